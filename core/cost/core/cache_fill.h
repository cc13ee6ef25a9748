// SPDX-License-Identifier: Apache-2.0
// What comes into each cache of a core while a contraction goes through its register tiles.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "stria/cost/core/panels.h"
#include "stria/cost/core/register_time.h"

namespace stria::cost {

// The loops of a core, the innermost first, each with the points that the index has after it. First
// come the steps of a tile, then the loops over tiles, then the parts of the reduction. Among the
// loops over tiles, the innermost is the one that reads the least anew, unless the caller asks for
// another one: `along`.
using TileLoops = std::vector<std::pair<size_t, int64_t>>;
TileLoops tile_loops(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     std::optional<size_t> along = {});

// Does what is written decide the order of tiles? It does if more is written than read, and more
// than a cache keeps: lines that fit wait in the cache until they are whole.
bool written_decides(const TiledBlock& block, const CoreRates::Level& cache);

// The index that moves along the memory of what is written, if the innermost loop over tiles moves
// across it. With its loop innermost, each tile continues lines that the one before began.
std::optional<size_t> along_written(const TiledBlock& block, const RegisterTiling& tiling,
                                    const Tile& tile, const TileLoops& loops);

// For each view of the block: the copy in panels that it is read from, if any.
using PackedViews = std::vector<std::optional<PanelView>>;

// What one cache has to bring in and write back, over all loops.
struct CacheFill {
  // By view, for those that are read: bytes that come in, and, in bytes too, what it costs to begin
  // to read elsewhere.
  std::vector<double> read;
  double written = 0;  // bytes that go out, and come in before
  double cycles(const CoreRates::Level& cache) const;
};

// A cache keeps what the innermost loops touch as long as that fits. The loop around these finds
// what its last round shares with the next one. If all of it fits, it is there already, and nothing
// comes in.
CacheFill cache_fill(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     const TileLoops& loops, const PackedViews& packed,
                     const CoreRates::Level& cache);

}  // namespace stria::cost
