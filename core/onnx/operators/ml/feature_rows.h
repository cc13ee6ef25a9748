// SPDX-License-Identifier: Apache-2.0
// What operators of classical machine learning share: rows of features, and attributes of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// A tensor of samples, [rows, columns]; a vector is one sample.
struct FeatureRows {
  std::string name;  // in the function of the node
  int64_t rows = 0;
  int64_t columns = 0;
  DataType type = DataType::fp32;  // in which it is computed: fp64 of fp64, fp32 of all others
};
Result<FeatureRows> feature_rows(NodeWriter& node);

// Numbers of an attribute of floats, or of the tensor `name`_as_tensor, which keeps those of 64
// bits. Empty without one; invalid_argument if both are there or are of another type.
Result<std::vector<double>> real_list(NodeWriter& node, const std::string& name);
// Texts of an attribute; empty without it.
Result<std::vector<std::string>> text_list(NodeWriter& node, std::string_view name);
// A parameter of the node's function with as many values as the sizes ask for.
Result<std::string> real_table(NodeWriter& node, DataType type, const std::vector<double>& values,
                               std::vector<int64_t> sizes);
// "attribute 'rho' has 2 values, not 3"
Status wrong_count(const NodeWriter& node, std::string_view attribute, size_t count,
                   int64_t wanted);

}  // namespace stria::onnx
