// SPDX-License-Identifier: Apache-2.0
// Walks over the tiles of a kernel. Deterministic: no clock, no hash order.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>

#include "stria/cost/search/tile_space.h"

namespace stria::cost {

// A tile's score, higher is better; not above 0: the tile does not fit.
using TileScore = std::function<double(const Tile&)>;

struct ScoredTile {
  Tile tile;
  double score = 0;
};

struct SearchResult {
  // In the order in which they were looked at.
  std::vector<ScoredTile> looked_at;
  // Position of the answer in it; -1 if no tile fits.
  int64_t best = -1;
};

// A greedy walk from the smallest tile. Each step goes on from the best open tile (the larger one
// among equals) to those with one index doubled: the smallest size that is at least twice as large,
// else the largest. It ends when the best open tile scores less than the one that was looked at
// last. The answer is the best score; among equals, the one that was met last. No list of `space`
// is empty.
SearchResult ascend(const TileSpace& space, const TileScore& score);
// The same over all powers of two up to each range, and the range. `ranges` are positive.
SearchResult ascend(const std::vector<int64_t>& ranges, const TileScore& score);

struct TileHash {
  size_t operator()(const Tile& tile) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(tile.data()), tile.size() * sizeof(tile[0])});
  }
};
// Costs that were asked for.
using AskedTiles = std::unordered_map<Tile, double, TileHash>;

// What the other searches ask; lower cost is better.
struct SearchCost {
  // Infinite: the tile does not fit.
  std::function<double(const Tile&)> of;
  // Not above the cost of any tile that is at least `low` and at most `high`, index by index.
  std::function<double(const Tile& low, const Tile& high)> bound;
  // True only if neither the tile nor a larger one fits.
  std::function<bool(const Tile&)> hopeless;
  // Indices whose sizes change the cost little: boxes are halved along them last. The answer does
  // not depend on them.
  std::vector<size_t> last = {};
  // The best tile may cost so much more than the cheapest, as a part of it: boxes that cannot hold
  // a better one by more than that are left out. 0: the answer is exact.
  double gap = 0;
  // The exhaustive search ends when it has looked at so many tiles, with the best of them; 0: it
  // does not.
  int64_t most = 0;
  // The quick search ends when it has a tile that costs no more. 0: it goes on.
  double enough = 0;
  bool rough = false;  // it descends from two tiles alone, index by index
  // What searches before this one have asked, and this one asks; null: it keeps that to itself.
  AskedTiles* asked = nullptr;
};

struct Ranking {
  // The cheapest tiles that fit, the best first, with the cost as `score`. Among equals, the one
  // whose first different size is larger comes first.
  std::vector<ScoredTile> best;
  int64_t looked_at = 0;  // tiles whose cost was asked, each counted once
  // No tile of the space costs less: a proof, with or without a gap. 0: no tile fits.
  double least = 0;
};

// The `keep` >= 1 cheapest tiles of the whole space. A tile is left out only if a bound says that
// it cannot be among them, so the answer is the same as of looking at every tile.
// With `most` or `gap` it is the answer of the tiles that it came to; `least` holds all the same.
Ranking exhaustive(const TileSpace& space, const SearchCost& cost, size_t keep = 1);
// Descents from a few tiles, in far fewer steps: one index at a time gets its best size; where that
// makes nothing better, one index grows while another one shrinks. `least` is the bound of the
// whole space; a tile that costs no more than that and `gap` is enough, too. `most` is not asked.
Ranking quick(const TileSpace& space, const SearchCost& cost, size_t keep = 1);

}  // namespace stria::cost
