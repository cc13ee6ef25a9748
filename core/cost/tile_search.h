// SPDX-License-Identifier: Apache-2.0
// Walks over the tiles of a kernel. Deterministic: no clock, no hash order.
#pragma once

#include <functional>

#include "stria/cost/group_plan.h"

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
  // Position there of the answer; -1 if no tile fits.
  int64_t best = -1;
};

// From tiles of one point, always on from the best open tile (the larger tile among equals) to
// those with one index doubled (up to its range). Ends when the best open tile scores less than the
// one that was looked at last. The answer is the best score, of equals the one that was met last.
// `ranges` are positive.
SearchResult ascend(const std::vector<int64_t>& ranges, const TileScore& score);

}  // namespace stria::cost
