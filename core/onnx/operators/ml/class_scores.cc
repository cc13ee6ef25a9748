// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/ml/class_scores.h"

#include <fmt/format.h>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {
namespace {

// The inverse of the normal distribution's cumulative function, sqrt(2) erfinv(2 x - 1), by
// Winitzki's closed form of erfinv (2008, a = 0.147), the one that implementations of the standard
// agree on. It is within 0.002 of the inverse.
std::string probit(NodeWriter& node, const std::string& x) {
  constexpr double kA = 0.147, kTwoByPi = 0.6366197723675814;
  const std::string y = node.let(fmt::format("2.0 * {} - 1.0", x));
  const std::string log = node.let(fmt::format("log((1.0 - {0}) * (1.0 + {0}))", y));
  const std::string half = node.let(fmt::format("{} + 0.5 * {}", number(kTwoByPi / kA), log));
  const std::string size =
      node.let(fmt::format("sqrt(sqrt({0} * {0} - {1} * {2}) - {0})", half, number(1 / kA), log));
  return fmt::format("{} * ({} < 0.0 ? -{} : {})", number(1.41421356), y, size, size);
}

}  // namespace

Result<PostTransform> post_transform(NodeWriter& node) {
  STRIA_ASSIGN(const std::string name, node.string_attribute("post_transform", "NONE"));
  static constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};
  for (size_t k = 0; k < std::size(kNames); ++k)
    if (kNames[k] == name) return static_cast<PostTransform>(k);
  return node.error(fmt::format(
      "attribute 'post_transform' is '{}': NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", name));
}

std::string transformed(NodeWriter& node, const std::string& scores, int64_t rows,
                        PostTransform transform) {
  switch (transform) {
    case PostTransform::none: return scores;
    case PostTransform::logistic: return fmt::format("sigmoid({})", scores);
    case PostTransform::probit: return probit(node, scores);
    case PostTransform::softmax:
    case PostTransform::softmax_zero: break;
  }
  const std::string top = contract(node, '>', {"r", "0"}, {rows, 1}, scores + "[r, t]");
  std::string parts = fmt::format("exp({} - {})", scores, top);
  // Scores of zero are left out.
  if (transform == PostTransform::softmax_zero)
    parts = fmt::format("{} == 0.0 ? 0.0 : {}", scores, parts);
  parts = node.let(parts);
  const std::string sum = contract(node, '+', {"r", "0"}, {rows, 1}, parts + "[r, t]");
  return fmt::format("{0} == 0.0 ? 0.0 : {1} / {0}", sum, parts);
}

Result<std::string> two_classes(NodeWriter& node, const std::string& score, DataType type,
                                int64_t rows, PostTransform transform, Opposite opposite) {
  STRIA_ASSIGN(const std::string sign, real_table(node, type, {-1, 1}, {1, 2}));
  std::string both = fmt::format("{} * {}", sign, score);
  if (transform == PostTransform::logistic) return fmt::format("sigmoid({})", both);
  if (opposite == Opposite::complement) {
    STRIA_ASSIGN(const std::string offset, real_table(node, type, {1, 0}, {1, 2}));
    both = fmt::format("{} + {}", offset, both);
  }
  if (transform != PostTransform::probit) return both;
  return transformed(node, node.let(both), rows, transform);
}

std::string first_largest(NodeWriter& node, const std::string& scores, int64_t rows,
                          int64_t columns) {
  const std::string top = contract(node, '>', {"r", "0"}, {rows, 1}, scores + "[r, c]");
  const std::string left =
      node.let(fmt::format("{0} == {1} ? {2} - index({0}, 1) : 0", scores, top, columns));
  const std::string most = contract(node, '>', {"r"}, {rows}, left + "[r, c]");
  return fmt::format("{} - {}", columns, most);
}

Result<ClassLabels> class_labels(NodeWriter& node, std::string_view integers) {
  ClassLabels out;
  STRIA_ASSIGN(out.numbers, node.integers_attribute(integers));
  STRIA_ASSIGN(out.texts, text_list(node, "classlabels_strings"));
  if (out.numbers.empty() == out.texts.empty())
    return node.error(
        fmt::format("it has {} labels of classes in '{}' and {} in "
                    "'classlabels_strings': one of the two must be there",
                    out.numbers.size(), integers, out.texts.size()));
  return out;
}

Status result_labels(NodeWriter& node, const ClassLabels& labels, const std::string& numbers) {
  if (!node.wants(0)) return {};
  if (!labels.texts.empty())
    return node.result_chosen(0, fmt::format("as_int({}, 64)", numbers), labels.texts);
  STRIA_ASSIGN(const std::string all, table(node, labels.numbers, {labels.count()}));
  return node.result(0, fmt::format("gather({}, {})", all, node.let(numbers)), ElementType::i64);
}

}  // namespace stria::onnx
