// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor, element by element, that Tile has a function for.
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

Status call(NodeWriter& node, std::string_view function) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  return node.result(0, std::string(function) + "(" + x + ")");
}

}  // namespace

Status absolute(NodeWriter& node) { return call(node, "abs"); }
Status acos(NodeWriter& node) { return call(node, "acos"); }
Status acosh(NodeWriter& node) { return call(node, "acosh"); }
Status asin(NodeWriter& node) { return call(node, "asin"); }
Status asinh(NodeWriter& node) { return call(node, "asinh"); }
Status atan(NodeWriter& node) { return call(node, "atan"); }
Status atanh(NodeWriter& node) { return call(node, "atanh"); }
Status ceil(NodeWriter& node) { return call(node, "ceil"); }
Status cos(NodeWriter& node) { return call(node, "cos"); }
Status cosh(NodeWriter& node) { return call(node, "cosh"); }
Status exp(NodeWriter& node) { return call(node, "exp"); }
Status floor(NodeWriter& node) { return call(node, "floor"); }
Status log(NodeWriter& node) { return call(node, "log"); }
Status reciprocal(NodeWriter& node) { return call(node, "recip"); }
Status relu(NodeWriter& node) { return call(node, "relu"); }
Status round(NodeWriter& node) { return call(node, "round"); }
Status sigmoid(NodeWriter& node) { return call(node, "sigmoid"); }
Status sin(NodeWriter& node) { return call(node, "sin"); }
Status sinh(NodeWriter& node) { return call(node, "sinh"); }
Status sqrt(NodeWriter& node) { return call(node, "sqrt"); }
Status tan(NodeWriter& node) { return call(node, "tan"); }
Status tanh(NodeWriter& node) { return call(node, "tanh"); }

Status negate(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  return node.result(0, "-" + x);
}

Status logical_not(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  return node.result(0, "!" + x);
}

}  // namespace stria::onnx::operators
