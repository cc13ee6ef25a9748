// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <fmt/format.h>

#include "stria/onnx/operators/normalize/softmax.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// The loss of `log` [N, C, …], logarithms of probabilities, against the classes of input 1.
Status loss_of(NodeWriter& node, const std::string& log, DataType type) {
  STRIA_ASSIGN(const std::string target, node.tensor(1));
  STRIA_ASSIGN(const std::string reduction, node.string_attribute("reduction", "mean"));
  const bool mean = reduction == "mean";
  if (!mean && reduction != "sum" && reduction != "none")
    return node.error(fmt::format("reduction is '{}'", reduction));
  const Sizes& sizes = node.type(0).sizes;
  Sizes each = sizes, classes(sizes.size(), 1);
  each[1] = 1;
  classes[1] = sizes[1];
  if (element_count(node.type(1).sizes) != element_count(each))
    return node.error("its targets have other sizes than its input");
  std::vector<bool> axes(sizes.size(), false);
  axes[1] = true;
  const Forms all = indices("i", sizes.size());
  const std::string of = node.let(reshaped(target, each));
  // The weight of each class where it is the target, 0 elsewhere.
  std::string weight = "1";
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string weights, node.tensor(2));
    if (node.type(2).sizes != Sizes{sizes[1]})
      return node.error(fmt::format("its weights are not those of {} classes", sizes[1]));
    weight = reshaped(wide(weights, node.type(2).type), classes);
  }
  std::string is_target = fmt::format("index({}, 1) == {}", log, of);
  if (node.has_attribute("ignore_index")) {
    STRIA_ASSIGN(const int64_t ignored, node.integer_attribute("ignore_index", 0));
    is_target += fmt::format(" && {} != {}", of, ignored);
  }
  const std::string weighted = node.let(fmt::format("{} ? {} : 0", is_target, weight));
  // An infinite logarithm of another class must not meet the 0.
  const std::string losses = node.let(fmt::format("{0} ? -{1} * {0} : 0", weighted, log));
  if (reduction == "none") {
    const std::string out = reduced(node, '+', access(losses, all), sizes, axes).kept;
    return node.result(0, narrow(reshaped(out, node.type(1).sizes), type));
  }
  std::string out = contract(node, '+', {}, {}, access(losses, all));
  if (mean) {
    const std::string divisor = contract(node, '+', {}, {}, access(weighted, all));
    out = fmt::format("({} / {})", out, divisor);
  }
  return node.result(0, narrow(out, type));
}

Status check_scores(const NodeWriter& node) {
  if (!node.has(0) || !node.has(1)) return node.error("it needs scores and targets");
  return node.rank(0) < 2 ? node.error("its scores have less than 2 dimensions") : Status();
}

}  // namespace

Status negative_log_likelihood_loss(NodeWriter& node) {
  STRIA_RETURN_IF_ERROR(check_scores(node));
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  if (type != wide_type(type)) x = node.let(wide(x, type));
  return loss_of(node, x, type);
}

Status softmax_cross_entropy_loss(NodeWriter& node) {
  STRIA_RETURN_IF_ERROR(check_scores(node));
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  if (type != wide_type(type)) x = node.let(wide(x, type));
  const Sizes& sizes = node.type(0).sizes;
  std::vector<bool> axes(sizes.size(), false);
  axes[1] = true;
  const SoftmaxParts parts = softmax_parts(node, x, sizes, axes);
  const std::string log = node.let(fmt::format("{} - log({})", parts.shifted, parts.sum));
  STRIA_RETURN_IF_ERROR(node.result(1, narrow(log, type)));
  return loss_of(node, log, type);
}

}  // namespace stria::onnx::operators
