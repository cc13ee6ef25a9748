// SPDX-License-Identifier: Apache-2.0
// The types of a contraction (docs/semantics/types.md, T8 to T11).
#pragma once

#include <vector>

#include "stria/tile/syntax/ast.h"
#include "stria/type/data_type.h"

namespace stria::tile {

struct ContractionTypes {
  DataType combination;  // of the operation that combines, or of the comparison
  DataType value;        // of the combined value
  DataType aggregation;  // of the running value
  DataType out;          // of the tensor
};

// `operands` has one type for `none`, two for `add`, `mul` and `equal`, three for `cond`.
ContractionTypes contraction_types(Aggregation aggregation, Combination combination,
                                   const std::vector<DataType>& operands);

}  // namespace stria::tile
