// SPDX-License-Identifier: Apache-2.0
// What support vector machines share: kernels, and probabilities of classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// The attributes kernel_type and kernel_params.
struct SvmKernel {
  enum class Type : uint8_t { linear, poly, rbf, sigmoid } type = Type::linear;
  double gamma = 0, coef0 = 0, degree = 0;
};
Result<SvmKernel> svm_kernel(NodeWriter& node);

// The kernel of each row of features with each of `count` vectors of as many features: an
// expression [x.rows, count].
Result<std::string> kernel_values(NodeWriter& node, const SvmKernel& kernel, const FeatureRows& x,
                                  const std::vector<double>& vectors, int64_t count);

// The pairs of classes, (0, 1), (0, 2), …, (1, 2), …: in the order in which machines of several
// classes decide between two.
std::vector<std::pair<int64_t, int64_t>> class_pairs(int64_t classes);

// Probabilities of classes [rows, classes] from the decisions between each two, [rows, pairs]:
// Platt's sigmoid for each pair, coupled as libsvm does it. Not supported: more than 64 classes.
// Source: Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise
// Coupling", 2004, algorithm 2.
Result<std::string> coupled_probabilities(NodeWriter& node, const FeatureRows& x,
                                          const std::string& decisions, int64_t classes,
                                          const std::vector<double>& a,
                                          const std::vector<double>& b);

}  // namespace stria::onnx
