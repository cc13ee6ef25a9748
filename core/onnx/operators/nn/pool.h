// SPDX-License-Identifier: Apache-2.0
// What pools of all kinds share.
#pragma once

#include <string>
#include <vector>

#include "stria/onnx/operators/nn/windows.h"

namespace stria::onnx {

struct Pooling {
  std::string x;
  std::vector<Window> windows;
  size_t first_axis = 2;  // of the dimensions that are pooled
  Forms forms;            // of the result
  Forms source;           // of x
  Sizes sizes;            // of the result
  Forms inside;           // "k0 < 3": the constraints of the kernel
};

// `x` stands for input 0 and has its sizes; its windows are those of the attributes, or one for the
// `whole` image.
Result<Pooling> pool_of(NodeWriter& node, std::string x, bool whole, bool channels_last = false);
// The aggregation over each window of a tensor with x's sizes.
std::string pooled(NodeWriter& node, const Pooling& of, char aggregation, const std::string& x);
// The mean of each window, as an expression; attribute count_include_pad says of what.
Result<std::string> averaged(NodeWriter& node, const Pooling& of);

}  // namespace stria::onnx
