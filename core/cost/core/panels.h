// SPDX-License-Identifier: Apache-2.0
// A view of a tensor that is read from a copy in panels, each of which is as wide along one index
// as a tile. How many lines it takes in caches, and what the copy costs.
#pragma once

#include "stria/cost/core/register_time.h"

namespace stria::cost {

class PanelView {
 public:
  // `index` moves one dimension of the view, one element a step, and no other index moves it.
  PanelView(const TiledBlock& block, const TiledView& view, size_t index, const Tile& tile);

  // The view over panels: its boxes have one size more than tiles.
  const TiledView& view() const { return view_; }
  // The box that these points of the block have in the copy.
  Tile box(const Tile& points) const;

 private:
  TiledView view_;
  size_t index_ = 0;
  int64_t width_ = 1;
};

// Cycles of a core for copying the whole of the view, by vectors of `lanes`.
double copy_cycles(const TiledBlock& block, const TiledView& view, size_t index, int64_t lanes,
                   const CoreRates& rates);

}  // namespace stria::cost
