// SPDX-License-Identifier: Apache-2.0
// Adagrad, Adam and Momentum: one step of training. Inputs are the rate R, the count T of steps so
// far, and then lists: the tensors X, their gradients G and what the optimizer keeps of them.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

struct Step {
  std::string rate, count;  // of rank 0
  int tensors = 0;
  std::string regularization;
};

// `kinds` lists stand behind R and T.
Result<Step> step_of(NodeWriter& node, int kinds) {
  Step out;
  STRIA_ASSIGN(const std::string rate, node.tensor(0));
  STRIA_ASSIGN(const std::string count, node.tensor(1));
  out.rate = node.let(reshaped(rate, {}));
  out.count = node.let(reshaped(count, {}));
  out.tensors = (node.input_count() - 2) / kinds;
  if (out.tensors < 1 || node.input_count() != 2 + kinds * out.tensors)
    return node.error(
        fmt::format("{} inputs are no lists of {} behind R and T", node.input_count(), kinds));
  STRIA_ASSIGN(const float norm, node.float_attribute("norm_coefficient", 0));
  out.regularization = number(norm);
  return out;
}

struct Tensors {
  std::string x, gradient;
};

Result<Tensors> tensors_of(NodeWriter& node, const Step& step, int k) {
  Tensors out;
  STRIA_ASSIGN(out.x, node.tensor(2 + k));
  STRIA_ASSIGN(const std::string gradient, node.tensor(2 + step.tensors + k));
  out.gradient = node.let(fmt::format("{} * {} + {}", step.regularization, out.x, gradient));
  return out;
}

}  // namespace

Status adagrad(NodeWriter& node) {
  STRIA_ASSIGN(const Step step, step_of(node, 3));
  STRIA_ASSIGN(const float decay, node.float_attribute("decay_factor", 0));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-6F));
  const std::string rate =
      node.let(fmt::format("{} / (1.0 + {} * {})", step.rate, step.count, number(decay)));
  for (int k = 0; k < step.tensors; ++k) {
    STRIA_ASSIGN(const Tensors at, tensors_of(node, step, k));
    STRIA_ASSIGN(const std::string h, node.tensor(2 + 2 * step.tensors + k));
    const std::string h_new = node.let(fmt::format("{0} + {1} * {1}", h, at.gradient));
    STRIA_RETURN_IF_ERROR(node.result(k, fmt::format("{} - {} * {} / (sqrt({}) + {})", at.x, rate,
                                                     at.gradient, h_new, number(epsilon))));
    STRIA_RETURN_IF_ERROR(node.result(step.tensors + k, h_new));
  }
  return {};
}

Status adam(NodeWriter& node) {
  STRIA_ASSIGN(const Step step, step_of(node, 4));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 0.9F));
  STRIA_ASSIGN(const float beta, node.float_attribute("beta", 0.999F));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-6F));
  STRIA_ASSIGN(const float post, node.float_attribute("norm_coefficient_post", 0));
  // The averages begin at zero: the rate makes up for it, after the first step.
  const std::string count = stria::onnx::cast(step.count, node.type(0).type);
  const std::string rate = node.let(
      fmt::format("{0} > 0 ? {1} * sqrt(1.0 - pow({2}, {3})) / (1.0 - pow({4}, {3})) : {1}",
                  step.count, step.rate, number(beta), count, number(alpha)));
  for (int k = 0; k < step.tensors; ++k) {
    STRIA_ASSIGN(const Tensors at, tensors_of(node, step, k));
    STRIA_ASSIGN(const std::string v, node.tensor(2 + 2 * step.tensors + k));
    STRIA_ASSIGN(const std::string h, node.tensor(2 + 3 * step.tensors + k));
    const std::string v_new = node.let(
        fmt::format("{} * {} + {} * {}", number(alpha), v, number(1.0 - alpha), at.gradient));
    const std::string h_new = node.let(fmt::format("{0} * {1} + {2} * {3} * {3}", number(beta), h,
                                                   number(1.0 - beta), at.gradient));
    STRIA_RETURN_IF_ERROR(
        node.result(k, fmt::format("{} * ({} - {} * {} / (sqrt({}) + {}))", number(1.0 - post),
                                   at.x, rate, v_new, h_new, number(epsilon))));
    STRIA_RETURN_IF_ERROR(node.result(step.tensors + k, v_new));
    STRIA_RETURN_IF_ERROR(node.result(2 * step.tensors + k, h_new));
  }
  return {};
}

Status momentum(NodeWriter& node) {
  STRIA_ASSIGN(const Step step, step_of(node, 3));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 0));
  STRIA_ASSIGN(const float beta, node.float_attribute("beta", 1));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", "standard"));
  if (mode != "standard" && mode != "nesterov")
    return node.error(fmt::format("mode '{}': standard or nesterov", mode));
  const DataType type = node.type(0).type;
  const std::string weight =
      node.let(fmt::format("{} > 0 ? {} : {}", step.count, typed(beta, type), typed(1, type)));
  for (int k = 0; k < step.tensors; ++k) {
    STRIA_ASSIGN(const Tensors at, tensors_of(node, step, k));
    STRIA_ASSIGN(const std::string v, node.tensor(2 + 2 * step.tensors + k));
    const std::string v_new =
        node.let(fmt::format("{} * {} + {} * {}", number(alpha), v, weight, at.gradient));
    const std::string way = mode == "standard"
                                ? v_new
                                : fmt::format("({} + {} * {})", at.gradient, number(alpha), v_new);
    STRIA_RETURN_IF_ERROR(node.result(k, fmt::format("{} - {} * {}", at.x, step.rate, way)));
    STRIA_RETURN_IF_ERROR(node.result(step.tensors + k, v_new));
  }
  return {};
}

}  // namespace stria::onnx::operators
