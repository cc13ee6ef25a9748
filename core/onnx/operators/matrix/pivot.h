// SPDX-License-Identifier: Apache-2.0
// Pivots of an elimination, a column at a time. Rows stay where they are; those that were pivots
// are marked.
#pragma once

#include <string>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

// A step is about ten statements.
constexpr int64_t kMostPivots = 128;

struct Pivot {
  std::string column;  // [batch, rows]
  std::string first;   // [batch, 1]: the row of the pivot
  std::string hit;     // [batch, rows]: whether a row is that of the pivot
  std::string value;   // [batch, 1]
};
// In column `k` of [batch, rows, …], the first of the largest elements by size whose row is not
// marked in `used`, which is "" before the first pivot.
Pivot pivot_of(NodeWriter& node, const std::string& a, const Sizes& batch_rows, int64_t k,
               const std::string& used);
// `used` with the row of the pivot.
std::string with_pivot(NodeWriter& node, const std::string& used, const Pivot& pivot);

// The rows of square matrices, the last two dimensions of input 0; invalid_argument if it has none
// of up to kMostPivots rows.
Result<int64_t> square_rows(NodeWriter& node);

}  // namespace stria::onnx
