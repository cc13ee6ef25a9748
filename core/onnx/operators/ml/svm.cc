// SPDX-License-Identifier: Apache-2.0
// SVMRegressor and SVMClassifier: sums of kernels with support vectors, or, without those, products
// with rows of coefficients. A classifier with support vectors decides between each two classes.
#include <fmt/format.h>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/ml/class_scores.h"
#include "stria/onnx/operators/ml/svm_kernel.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

constexpr int64_t kMostNumbers = int64_t{1} << 28;

// The attributes of a classifier with support vectors.
struct Machine {
  std::vector<double> vectors, coefficients, rho, prob_a, prob_b;
  std::vector<int64_t> per_class;
  int64_t count = 0;  // of vectors
};

Result<Machine> machine_of(NodeWriter& node, int64_t columns, int64_t classes) {
  Machine out;
  STRIA_ASSIGN(out.vectors, real_list(node, "support_vectors"));
  STRIA_ASSIGN(out.coefficients, real_list(node, "coefficients"));
  STRIA_ASSIGN(out.rho, real_list(node, "rho"));
  STRIA_ASSIGN(out.prob_a, real_list(node, "prob_a"));
  STRIA_ASSIGN(out.prob_b, real_list(node, "prob_b"));
  STRIA_ASSIGN(out.per_class, node.integers_attribute("vectors_per_class"));
  if (classes < 2) return node.error(fmt::format("it has {} class", classes));
  if (static_cast<int64_t>(out.per_class.size()) != classes)
    return wrong_count(node, "vectors_per_class", out.per_class.size(), classes);
  const auto numbers = static_cast<int64_t>(out.vectors.size());
  for (const int64_t each : out.per_class) {
    if (each < 0 || each > numbers)
      return node.error(
          fmt::format("attribute 'vectors_per_class' has {}; attribute "
                      "'support_vectors' has {} numbers for {} features",
                      each, numbers, columns));
    out.count += each;
  }
  if (out.count > numbers || out.count * columns != numbers)
    return node.error(
        fmt::format("attribute 'support_vectors' has {} numbers for {} vectors of {} "
                    "features",
                    numbers, out.count, columns));
  if (static_cast<int64_t>(out.coefficients.size()) != (classes - 1) * out.count)
    return wrong_count(node, "coefficients", out.coefficients.size(), (classes - 1) * out.count);
  const auto pairs = classes * (classes - 1) / 2;
  if (static_cast<int64_t>(out.rho.size()) != pairs)
    return wrong_count(node, "rho", out.rho.size(), pairs);
  if (out.prob_a.size() != out.prob_b.size())
    return wrong_count(node, "prob_b", out.prob_b.size(), static_cast<int64_t>(out.prob_a.size()));
  if (!out.prob_a.empty() && static_cast<int64_t>(out.prob_a.size()) != pairs)
    return wrong_count(node, "prob_a", out.prob_a.size(), pairs);
  if (out.count > kMostNumbers / pairs || classes > kMostNumbers / pairs)
    return node.not_supported(fmt::format("{} support vectors of {} classes", out.count, classes));
  return out;
}

// What each vector counts for in the decision between each pair, [vectors, pairs]: the vectors of a
// class have a coefficient against every other class, in the order of those.
std::vector<double> pair_weights(const Machine& machine, int64_t classes) {
  const auto pairs = class_pairs(classes);
  std::vector<double> out(static_cast<size_t>(machine.count) * pairs.size(), 0);
  std::vector<int64_t> begin(1, 0);
  for (const int64_t each : machine.per_class) begin.push_back(begin.back() + each);
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto [i, j] = pairs[p];
    for (const auto& [own, row] : {std::pair(i, j - 1), std::pair(j, i)})
      for (int64_t v = begin[static_cast<size_t>(own)]; v < begin[static_cast<size_t>(own) + 1];
           ++v)
        out[static_cast<size_t>(v) * pairs.size() + p] =
            machine.coefficients[static_cast<size_t>(row * machine.count + v)];
  }
  return out;
}

// The number of the class that wins most of its pairs: decisions above 0 are for the first.
Result<std::string> most_votes(NodeWriter& node, const FeatureRows& x, const std::string& decisions,
                               int64_t classes) {
  const auto pairs = class_pairs(classes);
  const auto count = static_cast<int64_t>(pairs.size());
  std::vector<double> first(static_cast<size_t>(count * classes), 0), second = first;
  for (size_t p = 0; p < pairs.size(); ++p) {
    first[p * static_cast<size_t>(classes) + static_cast<size_t>(pairs[p].first)] = 1;
    second[p * static_cast<size_t>(classes) + static_cast<size_t>(pairs[p].second)] = 1;
  }
  STRIA_ASSIGN(const std::string of_first, real_table(node, x.type, first, {count, classes}));
  STRIA_ASSIGN(const std::string of_second, real_table(node, x.type, second, {count, classes}));
  const std::string won = node.let(fmt::format("{} > 0.0 ? 1.0 : 0.0", decisions));
  const std::string lost = node.let(fmt::format("1.0 - {}", won));
  const auto counted = [&](const std::string& votes, const std::string& of) {
    return contract(node, '+', {"r", "c"}, {x.rows, classes},
                    fmt::format("{}[r, p] * {}[p, c]", votes, of));
  };
  const std::string votes =
      node.let(fmt::format("{} + {}", counted(won, of_first), counted(lost, of_second)));
  return first_largest(node, votes, x.rows, classes);
}

Status with_vectors(NodeWriter& node, const FeatureRows& x, const SvmKernel& kernel,
                    const ClassLabels& labels, PostTransform transform) {
  const int64_t classes = labels.count();
  STRIA_ASSIGN(const Machine machine, machine_of(node, x.columns, classes));
  const auto pairs = static_cast<int64_t>(machine.rho.size());
  STRIA_ASSIGN(const std::string kernels,
               kernel_values(node, kernel, x, machine.vectors, machine.count));
  STRIA_ASSIGN(const std::string weights,
               real_table(node, x.type, pair_weights(machine, classes), {machine.count, pairs}));
  STRIA_ASSIGN(const std::string rho, real_table(node, x.type, machine.rho, {1, pairs}));
  const std::string sums = contract(node, '+', {"r", "p"}, {x.rows, pairs},
                                    fmt::format("{}[r, v] * {}[v, p]", node.let(kernels), weights));
  const std::string decisions = node.let(fmt::format("{} + {}", sums, rho));
  STRIA_ASSIGN(const std::string number, most_votes(node, x, decisions, classes));
  STRIA_RETURN_IF_ERROR(result_labels(node, labels, number));
  std::string scores;
  if (!machine.prob_a.empty()) {
    STRIA_ASSIGN(
        scores, coupled_probabilities(node, x, decisions, classes, machine.prob_a, machine.prob_b));
    scores = transformed(node, scores, x.rows, transform);
  } else if (classes == 2) {
    const bool is_softmax =
        transform == PostTransform::softmax || transform == PostTransform::softmax_zero;
    STRIA_ASSIGN(scores, two_classes(node, decisions, x.type, x.rows, transform,
                                     is_softmax ? Opposite::complement : Opposite::negative));
  } else {
    scores = transformed(node, decisions, x.rows, transform);
  }
  return node.result(1, converted(scores, x.type, DataType::fp32));
}

// A row of coefficients for each class, and one number that all share.
Status without_vectors(NodeWriter& node, const FeatureRows& x, const SvmKernel& kernel,
                       const ClassLabels& labels, PostTransform transform) {
  STRIA_ASSIGN(const std::vector<double> coefficients, real_list(node, "coefficients"));
  STRIA_ASSIGN(const std::vector<double> rho, real_list(node, "rho"));
  const int64_t classes = labels.count();
  const auto count = static_cast<int64_t>(coefficients.size());
  if (count % x.columns != 0 || count / x.columns != classes)
    return node.error(
        fmt::format("attribute 'coefficients' has {} values for {} classes and {} features", count,
                    classes, x.columns));
  if (rho.empty()) return wrong_count(node, "rho", 0, 1);
  STRIA_ASSIGN(const std::string products, kernel_values(node, kernel, x, coefficients, classes));
  const std::string scores = node.let(fmt::format("{} + {}", products, literal(rho[0])));
  STRIA_RETURN_IF_ERROR(result_labels(node, labels, first_largest(node, scores, x.rows, classes)));
  return node.result(
      1, converted(transformed(node, scores, x.rows, transform), x.type, DataType::fp32));
}

}  // namespace

Status svm_classifier(NodeWriter& node) {
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  STRIA_ASSIGN(SvmKernel kernel, svm_kernel(node));
  STRIA_ASSIGN(const ClassLabels labels, class_labels(node, "classlabels_ints"));
  STRIA_ASSIGN(const PostTransform transform, post_transform(node));
  STRIA_ASSIGN(const std::vector<float> vectors, node.floats_attribute("support_vectors"));
  if (!vectors.empty()) return with_vectors(node, x, kernel, labels, transform);
  kernel.type = SvmKernel::Type::linear;
  return without_vectors(node, x, kernel, labels, transform);
}

Status svm_regressor(NodeWriter& node) {
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  STRIA_ASSIGN(SvmKernel kernel, svm_kernel(node));
  STRIA_ASSIGN(const PostTransform transform, post_transform(node));
  STRIA_ASSIGN(const int64_t one_class, node.integer_attribute("one_class", 0));
  STRIA_ASSIGN(const int64_t supports, node.integer_attribute("n_supports", 0));
  STRIA_ASSIGN(const std::vector<double> coefficients, real_list(node, "coefficients"));
  STRIA_ASSIGN(const std::vector<double> rho, real_list(node, "rho"));
  if (rho.size() != 1) return wrong_count(node, "rho", rho.size(), 1);
  std::string sum;
  if (supports != 0) {
    STRIA_ASSIGN(const std::vector<double> vectors, real_list(node, "support_vectors"));
    const auto numbers = static_cast<int64_t>(vectors.size());
    if (supports < 0 || supports > numbers || supports * x.columns != numbers)
      return node.error(fmt::format(
          "attribute 'support_vectors' has {} numbers; attribute 'n_supports' is {}, and there are "
          "{} features",
          numbers, supports, x.columns));
    if (static_cast<int64_t>(coefficients.size()) != supports)
      return wrong_count(node, "coefficients", coefficients.size(), supports);
    STRIA_ASSIGN(const std::string kernels, kernel_values(node, kernel, x, vectors, supports));
    STRIA_ASSIGN(const std::string weights, real_table(node, x.type, coefficients, {supports}));
    sum = contract(node, '+', {"r", "0"}, {x.rows, 1},
                   fmt::format("{}[r, v] * {}[v]", node.let(kernels), weights));
  } else {
    if (static_cast<int64_t>(coefficients.size()) != x.columns)
      return wrong_count(node, "coefficients", coefficients.size(), x.columns);
    kernel.type = SvmKernel::Type::linear;
    STRIA_ASSIGN(sum, kernel_values(node, kernel, x, coefficients, 1));
  }
  std::string y = node.let(fmt::format("{} + {}", sum, literal(rho[0])));
  if (one_class != 0) y = node.let(fmt::format("{} > 0.0 ? 1.0 : -1.0", y));
  return node.result(0, converted(transformed(node, y, x.rows, transform), x.type, DataType::fp32));
}

}  // namespace stria::onnx::operators
