// SPDX-License-Identifier: Apache-2.0
// Activations: functions of one tensor and a few numbers, element by element.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// `form` with {0} for the tensor and {1}, {2} for attributes.
struct Parameter {
  std::string_view name;
  float otherwise;
};

Status activation(NodeWriter& node, std::string_view form,
                  std::initializer_list<Parameter> parameters) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  std::vector<std::string> numbers;
  for (const Parameter& parameter : parameters) {
    STRIA_ASSIGN(const float value, node.float_attribute(parameter.name, parameter.otherwise));
    numbers.push_back(number(value));
  }
  numbers.resize(2);
  return node.result(0, fmt::format(fmt::runtime(form), x, numbers[0], numbers[1]));
}

}  // namespace

Status celu(NodeWriter& node) {
  return activation(node, "max({0}, 0.0) + min({1} * (exp({0} / {1}) - 1.0), 0.0)",
                    {{"alpha", 1.0F}});
}

Status elu(NodeWriter& node) {
  return activation(node, "{0} < 0.0 ? {1} * (exp({0}) - 1.0) : {0}", {{"alpha", 1.0F}});
}

Status hard_sigmoid(NodeWriter& node) {
  return activation(node, "max(min({1} * {0} + {2}, 1.0), 0.0)", {{"alpha", 0.2F}, {"beta", 0.5F}});
}

Status hard_swish(NodeWriter& node) {
  return activation(node, "{0} * max(min({0} / 6.0 + 0.5, 1.0), 0.0)", {});
}

Status leaky_relu(NodeWriter& node) {
  return activation(node, "{0} < 0.0 ? {1} * {0} : {0}", {{"alpha", 0.01F}});
}

Status mish(NodeWriter& node) {
  return activation(node, "{0} * tanh(max({0}, 0.0) + log(1.0 + exp(-abs({0}))))", {});
}

// The defaults of opset 1 have fewer digits.
Status selu(NodeWriter& node) {
  const bool old = node.version() < 6;
  return activation(node, "{0} > 0.0 ? {2} * {0} : {2} * ({1} * exp({0}) - {1})",
                    {{"alpha", old ? 1.6732F : 1.67326319217681884765625F},
                     {"gamma", old ? 1.0507F : 1.05070102214813232421875F}});
}

// exp() of what is not above 0 cannot overflow.
Status softplus(NodeWriter& node) {
  return activation(node, "max({0}, 0.0) + log(1.0 + exp(-abs({0})))", {});
}

Status softsign(NodeWriter& node) { return activation(node, "{0} / (1.0 + abs({0}))", {}); }

Status swish(NodeWriter& node) {
  return activation(node, "{0} * sigmoid({1} * {0})", {{"alpha", 1.0F}});
}

Status thresholded_relu(NodeWriter& node) {
  return activation(node, "{0} > {1} ? {0} : 0.0", {{"alpha", 1.0F}});
}

Status swiglu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1.0F));
  if (node.type(0).sizes != node.type(1).sizes)
    return node.error("its inputs have different sizes");
  return node.result(0, fmt::format("{0} * sigmoid({1} * {0}) * {2}", a, number(alpha), b));
}

// Of integers, too.
Status shrink(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const float lambda, node.float_attribute("lambd", 0.5F));
  STRIA_ASSIGN(const float bias, node.float_attribute("bias", 0.0F));
  const std::string shrunk =
      fmt::format("{0} < {1} ? {0} + {2} : {0} > {3} ? {0} - {2} : 0.0", x, number(-lambda),
                  number(bias), number(lambda));
  return node.result(0, stria::onnx::cast(shrunk, node.type(0).type));
}

// The slope broadcasts to the input. Before opset 7 its elements are those of channels.
Status prelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(std::string slope, node.tensor(1));
  if (node.version() < 7 && node.rank(1) == 1 && node.size(1, 0) > 1) {
    std::vector<int64_t> sizes(static_cast<size_t>(std::max(node.rank(0) - 1, 1)), 1);
    sizes[0] = node.size(1, 0);
    slope = reshaped(slope, sizes);
  }
  return node.result(
      0, fmt::format("{0} < {2} ? {1} * {0} : {0}", x, slope, typed(0, node.type(0).type)));
}

}  // namespace stria::onnx::operators
