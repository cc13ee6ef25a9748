// SPDX-License-Identifier: Apache-2.0
// What a group stages of an operand for a tile: the box of the elements that its points read. If
// all of them are a fixed number of elements apart along a dimension (outputs with a stride, one
// tap in a step), the elements between are left out. Pure functions.
#pragma once

#include <cstdint>

#include "stria/cost/block/tiled_block.h"

namespace stria::cost {

// Elements of the tensor from one that is staged to the next, 1 or more.
int64_t staged_step(const TiledDim& dim, const Tile& tile);
// Elements along the dimension; not fewer for a larger tile.
double staged_extent(const TiledDim& dim, const Tile& tile);
double staged_elements(const TiledView& view, const Tile& tile);
// Not above staged_elements / points_of of any tile that is at least `low` and at most `high`,
// index by index.
double least_staged_of_point(const TiledView& view, const Tile& low, const Tile& high);

}  // namespace stria::cost
