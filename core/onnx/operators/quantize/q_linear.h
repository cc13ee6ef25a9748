// SPDX-License-Identifier: Apache-2.0
// Operators on quantized tensors that compute with the numbers: each tensor comes with its scale
// and its zero point, one of each.
#pragma once

#include <string>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

// Input `i`, which has one element, of rank 0.
Result<std::string> scalar_of(NodeWriter& node, int i);
// The numbers that input `i`, its scale i + 1 and its zero point i + 2 mean, in fp32.
Result<std::string> numbers_at(NodeWriter& node, int i);
// Result 0: `numbers` by scale `i` and zero point i + 1, as integers of the type of input `like`.
Status quantized_result(NodeWriter& node, const std::string& numbers, int i, int like);

}  // namespace stria::onnx
