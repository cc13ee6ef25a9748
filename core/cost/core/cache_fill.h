// SPDX-License-Identifier: Apache-2.0
// What comes into each cache of a core while a contraction goes through its register tiles.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "stria/cost/core/panels.h"
#include "stria/cost/core/register_time.h"

namespace stria::cost {

// The loops of a core, the innermost first, with what each grows to: over the steps of a tile, then
// over tiles, then over parts of the reduction. Over tiles the one comes first that reads the least
// anew, unless another one is asked to: `along`.
using TileLoops = std::vector<std::pair<size_t, int64_t>>;
TileLoops tile_loops(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     std::optional<size_t> along = {});

// Is the order of tiles for what is written to decide? It is where more is written than read, and
// more than a cache keeps: lines that fit wait there until they are whole.
bool written_decides(const TiledBlock& block, const CoreRates::Level& cache);

// The index that goes along the memory of what is written, if the innermost of the loops over tiles
// goes across it: with its loop there, tile after tile continues lines that the one before began.
std::optional<size_t> along_written(const TiledBlock& block, const RegisterTiling& tiling,
                                    const Tile& tile, const TileLoops& loops);

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
