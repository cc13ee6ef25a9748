// SPDX-License-Identifier: Apache-2.0
// Products of matrices and convolutions as contractions, of any operands.
#pragma once

#include <string>
#include <vector>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

struct Sized {
  std::string name;  // of a tensor in the function
  std::vector<int64_t> sizes;
};

// A * B over the last dimension of A and the last but one of B, as numpy's matmul: dimensions
// before them broadcast, and a vector is a row or a column. Transposed operands have their last two
// dimensions the other way round.
Result<Sized> product_of(NodeWriter& node, const Sized& a, const Sized& b, bool transpose_a = false,
                         bool transpose_b = false);

// X[n, c, …], or X[n, …, c] if its channels are last, with W[m, c / group, …] as the node's
// attributes group, strides, dilations, pads and auto_pad say.
Result<Sized> convolution_of(NodeWriter& node, const Sized& x, const Sized& w,
                             bool channels_last = false);

}  // namespace stria::onnx
