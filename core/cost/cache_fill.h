// SPDX-License-Identifier: Apache-2.0
// What comes into each cache of a core while a contraction goes through its register tiles.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "stria/cost/panels.h"
#include "stria/cost/register_time.h"

namespace stria::cost {

// The loops of a core, the innermost first, with what each grows to: over the steps of a tile, then
// over tiles, then over parts of the reduction.
using TileLoops = std::vector<std::pair<size_t, int64_t>>;
TileLoops tile_loops(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile);

// By view of the block: read from a copy in panels, if at all.
using PackedViews = std::vector<std::optional<PanelView>>;

// Of one cache, all loops.
struct CacheFill {
  // By view, of those that are read: bytes that come in, and what beginning to read elsewhere
  // costs, as bytes.
  std::vector<double> read;
  double written = 0;  // bytes that go out, and come in before
  double cycles(const CoreRates::Level& cache) const;
};

// A cache keeps what the innermost loops touch as long as that fits; the loop around these finds
// what its last round shares with the next one. What fits as a whole is there already: nothing
// comes in.
CacheFill cache_fill(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     const TileLoops& loops, const PackedViews& packed,
                     const CoreRates::Level& cache);

}  // namespace stria::cost
