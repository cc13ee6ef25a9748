// SPDX-License-Identifier: Apache-2.0
// What a tile takes of one memory, and what moves into that memory while a whole block runs. In a
// scratchpad a tile's views lie packed, and every tile is staged anew. A cache holds lines, in sets
// of `ways` places; what stays in it between tiles is not fetched again.
#pragma once

#include "stria/cost/block/tiled_block.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Sets of one instance of a cache; 1: a line may lie anywhere.
int64_t sets_of(const MemoryUnit& memory);

// Lines (or transactions) of `line_bytes` that the box of a tile lies in, if the box begins on one.
// Neighbouring rows share lines. Never fewer for a larger tile. `extent_of`: elements along a
// dimension that are wanted, of those between the first and the last one.
double lines_of(const TiledView& view, const Tile& tile, int64_t line_bytes,
                double (*extent_of)(const TiledDim&, const Tile&) = extent);

// Places that the fullest set of a cache needs for the view. Exact for rows of one stride; for
// several strides an estimate that is never below lines / sets.
double places_of(const TiledView& view, const Tile& tile, int64_t line_bytes, int64_t sets);

struct MemoryUse {
  double bytes = 0;     // that the tile takes: staged bytes, or lines
  double places = 0;    // in the fullest set of a cache; 0 in others
  double capacity = 0;  // bytes that the tile may have; 0 = no limit is known
  int64_t ways = 0;     // places that the tile may have; 0 = no limit is known
  bool fits() const {
    return (capacity == 0 || bytes <= capacity) &&
           (ways == 0 || places <= static_cast<double>(ways));
  }
};

// What a tile takes of one instance of `memory`, shared by `pipeline_depth` >= 1 tiles in flight.
MemoryUse memory_use(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                     int64_t pipeline_depth);
// The same, but never more than what a tile of at least this size takes.
MemoryUse least_memory_use(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                           int64_t pipeline_depth);

// Bytes that come into all instances of `memory`, and bytes that go back, while all tiles run once.
// They move line by line; a line is as wide as in the memory behind (`behind`; null: as in this
// one). A cache is taken to keep what the innermost loops, over points and then over tiles, touch
// together, as far as it fits; what does not fit at all is fetched at each use. If the tile cuts a
// reduction, its sums come back for each part but the first.
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
  double bytes() const { return read_bytes + written_bytes; }
};
Traffic traffic_into(const TiledBlock& block, const Tile& tile, const MemoryUnit& memory,
                     const MemoryUnit* behind);

}  // namespace stria::cost
