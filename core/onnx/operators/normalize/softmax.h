// SPDX-License-Identifier: Apache-2.0
// The pieces of a softmax: losses and attention use other ones of them.
#pragma once

#include <string>
#include <vector>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

struct SoftmaxParts {
  std::string shifted;  // x less the largest of its elements
  std::string powers;   // exp(shifted)
  std::string sum;      // of the powers; its sizes are 1 along the axes
};
SoftmaxParts softmax_parts(NodeWriter& node, const std::string& x, const Sizes& sizes,
                           const std::vector<bool>& axes);

}  // namespace stria::onnx
