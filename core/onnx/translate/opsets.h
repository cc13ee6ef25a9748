// SPDX-License-Identifier: Apache-2.0
// The operators of the standard, and in which versions of their domains they came or changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stria::onnx {

struct StandardOperator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  std::string_view versions;  // "1, 6, 13"
  int64_t first = 0;          // from which on it is read: the first, or before it (opsets.cc)
  int64_t last = 0;
  size_t inputs = 0, outputs = 0;  // that a node has at most, in any version
};

// Ordered by domain and name.
std::span<const StandardOperator> standard_operators();
// Null: the standard has none of that name.
const StandardOperator* find_standard_operator(std::string_view domain, std::string_view name);

// The newest version of a domain of the standard; 0: it is no such domain.
int64_t newest_version(std::string_view domain);

}  // namespace stria::onnx
