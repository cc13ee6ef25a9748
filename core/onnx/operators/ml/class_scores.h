// SPDX-License-Identifier: Apache-2.0
// The results of classifiers: scores after their transform, and labels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// In the order in which TreeEnsemble numbers them.
enum class PostTransform : uint8_t { none, softmax, logistic, softmax_zero, probit };
// The attribute `post_transform` as a name. invalid_argument for one that there is not.
Result<PostTransform> post_transform(NodeWriter& node);

// Scores, a tensor [rows, columns] of the function, after the transform: an expression.
std::string transformed(NodeWriter& node, const std::string& scores, int64_t rows,
                        PostTransform transform);

// What the first of two classes has if the second one has score s: 1 - s or -s.
enum class Opposite : uint8_t { complement, negative };
// The scores of two classes, [rows, 2], of which `score` [rows, 1] is that of the second. LOGISTIC
// makes them probabilities whose sum is 1. The two kinds of softmax leave them alone: one score
// has nothing to be set off against, and ONNX Runtime does so, for which converters are made.
Result<std::string> two_classes(NodeWriter& node, const std::string& score, DataType type,
                                int64_t rows, PostTransform transform, Opposite opposite);

// The first column with the largest score of each row: i32 [rows].
std::string first_largest(NodeWriter& node, const std::string& scores, int64_t rows,
                          int64_t columns);

// What classes are called: numbers or texts.
struct ClassLabels {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
  int64_t count() const {
    return static_cast<int64_t>(numbers.empty() ? texts.size() : numbers.size());
  }
};
// Of classlabels_strings or the attribute of integers with that name. invalid_argument unless one
// of the two has labels.
Result<ClassLabels> class_labels(NodeWriter& node, std::string_view integers);
// Result 0: the labels with these numbers, an i32 expression [rows].
Status result_labels(NodeWriter& node, const ClassLabels& labels, const std::string& numbers);

}  // namespace stria::onnx
