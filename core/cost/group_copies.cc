// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/group_copies.h"

#include <algorithm>
#include <cmath>

#include "stria/cost/group_plan.h"
#include "stria/cost/group_work.h"

namespace stria::cost::group {
namespace {

// Does each row of what the tile shows begin at a multiple of a vector, and consist of vectors?
bool in_vectors(const TiledView& view, const Tile& tile) {
  constexpr auto vector = static_cast<int64_t>(kVector);
  const std::optional<size_t> along = row_index(view);
  return along && tile[*along] % vector == 0 &&
         static_cast<int64_t>(extent(view.dims[0], tile)) % vector == 0;
}

}  // namespace

Copies::Copies(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    const bool vectors = in_vectors(view, tile);
    Copy& copy = copies_.emplace_back();
    copy.round = !vectors ? kSingle : rows_of(block, view) == Rows::outputs ? kStraight : kTurned;
    const int64_t elements = std::max<int64_t>(1, rates.line_bytes / view.element_bytes);
    std::array<CopySide, kMostDims> sides;
    size_t count = 0;
    for (size_t d = 0; d < view.dims.size(); ++d) {
      auto size = static_cast<int64_t>(extent(view.dims[d], tile));
      if (d == 0 && vectors) size /= static_cast<int64_t>(kVector);
      if (size <= 1) continue;
      const CopySide side{size, view.dims[d].stride};
      if (count == kMostDims) {
        sides[count - 1].range = saturating_product(sides[count - 1].range, size);
        continue;
      }
      size_t at = count++;
      for (; at > 0 && takes_lanes_before(side, sides[at - 1], elements); --at)
        sides[at] = sides[at - 1];
      sides[at] = side;
    }
    copy.dims = count;
    for (size_t d = 0; d < count; ++d) copy.sizes[d] = sides[d].range;
  }
}

double Copies::instructions(int64_t threads) const {
  double out = 0;
  for (const Copy& copy : copies_) {
    double rounds = copy.round;
    int64_t left = threads;
    for (size_t d = 0; d < copy.dims; ++d) {
      const int64_t lanes = std::min(power_of_two_above(copy.sizes[d]), left);
      rounds *= static_cast<double>(ceil_div(copy.sizes[d], lanes));
      left /= lanes;
    }
    out += rounds;
  }
  return out;
}

double least_copying(const TiledBlock& block, const TiledView& view) {
  switch (rows_of(block, view)) {
    case Rows::outputs: return std::min(kStraight / kVector, kSingle);
    case Rows::reductions: return std::min(kTurned / kVector, kSingle);
    case Rows::none: break;
  }
  return kSingle;
}

}  // namespace stria::cost::group
