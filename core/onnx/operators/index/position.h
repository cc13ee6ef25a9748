// SPDX-License-Identifier: Apache-2.0
// Positions in ONNX's tensors of indices as rows of flattened tensors.
#pragma once

#include <string>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// An expression for indices of which negative ones count from the end of `size`.
std::string counted_from_start(std::string_view indices, DataType type, int64_t size);

// Where each element of input `i`, indices along `axis`, points in a tensor of `sizes` of the same
// rank when that is flattened: a tensor of the input's sizes.
Result<std::string> element_positions(NodeWriter& node, int i, const Sizes& sizes, size_t axis);

struct RowPositions {
  std::string name;  // the tensor
  Sizes sizes;       // its sizes: those of the input without the last
  size_t dims = 0;   // how many of the leading dims of what is indexed it replaces
};
// Where each row of coordinates, the last dimension of input `i`, points in a tensor of `sizes`
// whose dims that the coordinates name, and the `batch_dims` before them, are flattened.
Result<RowPositions> row_positions(NodeWriter& node, int i, const Sizes& sizes, size_t batch_dims);

}  // namespace stria::onnx
