// SPDX-License-Identifier: Apache-2.0
// A view of a tensor that is read from a copy in panels, each as wide along one index as a tile:
// what it takes of caches, and what the copy costs.
#pragma once

#include "stria/cost/core/register_time.h"

namespace stria::cost {

class PanelView {
 public:
  // One dimension of the view moves with `index`, one element a step, and no other index moves it.
  PanelView(const TiledBlock& block, const TiledView& view, size_t index, const Tile& tile);

  // Boxes have one size more than tiles: panels.
  const TiledView& view() const { return view_; }
  // The box of the block's points as the copy has it.
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
