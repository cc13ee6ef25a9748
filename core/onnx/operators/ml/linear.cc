// SPDX-License-Identifier: Apache-2.0
// LinearRegressor and LinearClassifier: a product with a row of coefficients for each target or
// class, and an intercept.
#include <fmt/format.h>

#include "stria/onnx/operators/ml/class_scores.h"
#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

struct Products {
  std::string scores;  // [rows, targets]
  int64_t targets = 0;
};

// `targets` rows of coefficients; 0: as many as there are.
Result<Products> products_of(NodeWriter& node, const FeatureRows& x, int64_t targets) {
  STRIA_ASSIGN(const std::vector<double> coefficients, real_list(node, "coefficients"));
  STRIA_ASSIGN(const std::vector<double> intercepts, real_list(node, "intercepts"));
  Products out;
  const auto count = static_cast<int64_t>(coefficients.size());
  out.targets = count / x.columns;
  if (count == 0 || count % x.columns != 0 || (targets && out.targets != targets))
    return node.error(fmt::format("attribute 'coefficients' has {} values for {} features{}", count,
                                  x.columns,
                                  targets ? fmt::format(" and {} targets", targets) : ""));
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != out.targets)
    return wrong_count(node, "intercepts", intercepts.size(), out.targets);
  STRIA_ASSIGN(const std::string weights,
               real_table(node, x.type, coefficients, {out.targets, x.columns}));
  out.scores = contract(node, '+', {"r", "t"}, {x.rows, out.targets},
                        fmt::format("{}[r, c] * {}[t, c]", x.name, weights));
  if (intercepts.empty()) return out;
  STRIA_ASSIGN(const std::string added, real_table(node, x.type, intercepts, {1, out.targets}));
  out.scores = node.let(fmt::format("{} + {}", out.scores, added));
  return out;
}

}  // namespace

Status linear_regressor(NodeWriter& node) {
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  STRIA_ASSIGN(const int64_t targets, node.integer_attribute("targets", 1));
  STRIA_ASSIGN(const PostTransform transform, post_transform(node));
  if (targets < 1) return node.error(fmt::format("attribute 'targets' is {}", targets));
  STRIA_ASSIGN(const Products made, products_of(node, x, targets));
  return node.result(
      0, converted(transformed(node, made.scores, x.rows, transform), x.type, DataType::fp32));
}

Status linear_classifier(NodeWriter& node) {
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  STRIA_ASSIGN(const ClassLabels labels, class_labels(node, "classlabels_ints"));
  STRIA_ASSIGN(const PostTransform transform, post_transform(node));
  STRIA_ASSIGN(const Products made, products_of(node, x, 0));
  std::string number, scores;
  if (made.targets == 1 && labels.count() == 2) {
    number = contract(node, '=', {"r"}, {x.rows},
                      node.let(fmt::format("{} > 0.0 ? 1 : 0", made.scores)) + "[r, 0]");
    STRIA_ASSIGN(scores,
                 two_classes(node, made.scores, x.type, x.rows, transform, Opposite::complement));
  } else {
    if (made.targets != labels.count())
      return node.error(
          fmt::format("attribute 'coefficients' has rows for {} classes, which have "
                      "{} labels",
                      made.targets, labels.count()));
    number = first_largest(node, made.scores, x.rows, made.targets);
    scores = transformed(node, made.scores, x.rows, transform);
  }
  STRIA_RETURN_IF_ERROR(result_labels(node, labels, number));
  return node.result(1, converted(scores, x.type, DataType::fp32));
}

}  // namespace stria::onnx::operators
