// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

struct Product {
  std::string tensor;
  Sizes sizes;
};
// The matrix product of MatMul: vectors and broadcast batches, too.
Result<Product> matrix_product(NodeWriter& node, const std::string& a, Sizes a_sizes,
                               const std::string& b, Sizes b_sizes);

}  // namespace stria::onnx
