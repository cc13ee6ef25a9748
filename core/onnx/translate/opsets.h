// SPDX-License-Identifier: Apache-2.0
// The operators of the standard, and in which versions of their domains they came or changed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stria::onnx {

struct StandardOperator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  std::string_view versions;  // "1, 6, 13"
  int64_t first = 0;          // the first of these
  int64_t last = 0;
};

// Ordered by domain and name.
std::span<const StandardOperator> standard_operators();
// Null: the standard has none of that name.
const StandardOperator* find_standard_operator(std::string_view domain, std::string_view name);

// What is wrong with the versions that a model asks for, one text each: below 1, or newer than the
// standard that is known. Domains of others have versions of their own.
std::vector<std::string> wrong_opsets(const std::map<std::string, int64_t>& opsets);

}  // namespace stria::onnx
