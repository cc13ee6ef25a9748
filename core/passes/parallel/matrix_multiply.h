// SPDX-License-Identifier: Apache-2.0
// Parts of matrix_units: how a group's tile is divided, and the products of the tile as loops of
// subgroups over matrices (matrix_units.h shows both).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stria/base/refusal.h"
#include "stria/passes/tile/matrix_tile.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// The stencil that works element by element (S15).
inline constexpr const char* kElements = "elements";

// How the tile of a group is divided: among subgroups, and into the matrices of each.
struct MatrixGrid {
  int64_t rows = 0, columns = 0;                    // of the group's tile
  int64_t row_subgroups = 1, column_subgroups = 1;  // that divide it
  int64_t unit_rows = 0, unit_columns = 0, unit_depth = 0;
  std::string unit, memory;  // the execution unit of subgroups, the memory unit of their matrices
  int64_t part_rows() const { return rows / row_subgroups; }
  int64_t part_columns() const { return columns / column_subgroups; }

  // Gives a block, whose indices number parts of the tile, to subgroups.
  void locate(stripe::Block& block, const std::string& row, const std::string& column) const;
};

// Adds factor * (which of `count` parts of `size` elements along the dimension), if there are
// several.
void add_field(stripe::BitFieldForm& form, size_t dim, int64_t size, int64_t count, int64_t factor);

// Splits, and makes an outer block of one point where one part is the whole. The inner block.
stripe::Block& split_into(stripe::Block& block, const std::map<std::string, int64_t>& sizes);

// Removes the block's constraints, and the indices that brought values into them.
void drop_constraints(stripe::Block& block);

// `tile`, a block of products, becomes the block of subgroups.
Refusal multiply_matrices(stripe::Block& tile, const MatrixTileForm& form, const MatrixGrid& grid);

}  // namespace stria::passes
