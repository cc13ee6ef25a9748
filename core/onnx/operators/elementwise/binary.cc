// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors or more, element by element, of one type. Sizes broadcast in ONNX as
// they do in Tile.
#include <fmt/format.h>

#include "stria/onnx/operators/elementwise/broadcast.h"
#include "stria/onnx/operators/strings/string_value.h"

namespace stria::onnx::operators {
namespace {

Status join(NodeWriter& node, std::string_view operation) {
  STRIA_RETURN_IF_ERROR(check_one_type(node));
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, second_operand(node));
  return node.result(0, fmt::format("{} {} {}", a, operation, b));
}

// max(max(A, B), C) of any number of tensors.
Status fold(NodeWriter& node, std::string_view function) {
  STRIA_RETURN_IF_ERROR(check_one_type(node));
  STRIA_ASSIGN(std::string all, node.tensor(0));
  for (int i = 1; i < node.input_count(); ++i) {
    STRIA_ASSIGN(const std::string next, node.tensor(i));
    all = fmt::format("{}({}, {})", function, all, next);
  }
  return node.result(0, all);
}

}  // namespace

Status add(NodeWriter& node) { return join(node, "+"); }
Status subtract(NodeWriter& node) { return join(node, "-"); }
Status multiply(NodeWriter& node) { return join(node, "*"); }
Status divide(NodeWriter& node) { return join(node, "/"); }
Status equal(NodeWriter& node) {
  if (node.has(0) && node.value(0)->kind == Value::Kind::strings) return string_equal(node);
  return join(node, "==");
}
Status greater(NodeWriter& node) { return join(node, ">"); }
Status greater_or_equal(NodeWriter& node) { return join(node, ">="); }
Status less(NodeWriter& node) { return join(node, "<"); }
Status less_or_equal(NodeWriter& node) { return join(node, "<="); }
Status logical_and(NodeWriter& node) { return join(node, "&&"); }
Status logical_or(NodeWriter& node) { return join(node, "||"); }
// Of bools, different is exclusive or.
Status logical_xor(NodeWriter& node) { return join(node, "!="); }
Status bitwise_and(NodeWriter& node) { return join(node, "&"); }
Status bitwise_or(NodeWriter& node) { return join(node, "|"); }
Status bitwise_xor(NodeWriter& node) { return join(node, "^"); }
Status maximum(NodeWriter& node) { return fold(node, "max"); }
Status minimum(NodeWriter& node) { return fold(node, "min"); }

Status where(NodeWriter& node) {
  STRIA_RETURN_IF_ERROR(check_one_type(node, 1));
  STRIA_ASSIGN(const std::string condition, node.tensor(0));
  STRIA_ASSIGN(const std::string x, node.tensor(1));
  STRIA_ASSIGN(const std::string y, node.tensor(2));
  return node.result(0, fmt::format("{} ? {} : {}", condition, x, y));
}

}  // namespace stria::onnx::operators
