// SPDX-License-Identifier: Apache-2.0
// Mean and variance, which the normalizations are made of.
#pragma once

#include <string>
#include <vector>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

struct Moments {
  std::string mean;      // sizes of 1 along the axes
  std::string centered;  // x - mean
  std::string variance;  // mean of the squares of that
};
Moments moments(NodeWriter& node, const std::string& x, const Sizes& sizes,
                const std::vector<bool>& axes);
// The mean of the squares of x.
std::string mean_square(NodeWriter& node, const std::string& x, const Sizes& sizes,
                        const std::vector<bool>& axes);
// Sizes of 1 but for `size` at dimension `axis`: along it a vector is broadcast.
Sizes along(int64_t rank, int64_t axis, int64_t size);

}  // namespace stria::onnx
