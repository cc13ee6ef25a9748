// SPDX-License-Identifier: Apache-2.0
// The operators that are known. Each stands in all_operators.def, and has one function that says
// what it computes; operators of one kind share a file.
#pragma once

#include <span>
#include <string_view>

#include "stria/base/result.h"
#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

struct Operator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  Status (*translate)(NodeWriter& node);
};

// Ordered by domain and name.
std::span<const Operator> all_operators();
// Null if there is none.
const Operator* find_operator(std::string_view domain, std::string_view name);

}  // namespace stria::onnx
