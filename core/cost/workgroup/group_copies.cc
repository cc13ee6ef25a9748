// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/group_copies.h"

#include <algorithm>
#include <cmath>

#include "stria/cost/workgroup/group_work.h"
#include "stria/cost/workgroup/staged_elements.h"

namespace stria::cost::group {
namespace {

double round_of_vector(const CopyRows& rows, const GroupFacts& facts) {
  return rows.across ? facts.copy_turned_instructions * static_cast<double>(rows.vector) / kVector
                     : facts.copy_vector_instructions;
}

// Is the operand transposed as it is staged? Its rows lie along a reduction then, and outputs move
// along it too.
bool are_transposed(const TiledBlock& block, const TiledView& view, size_t along,
                    const Tile& tile) {
  return block.indices[along].reduction &&
         std::any_of(view.dims.begin(), view.dims.end(),
                     [&](const TiledDim& dim) { return moves_with_outputs(block, dim, tile); });
}

// The rows of a tile. They are copied in vectors if each begins at a multiple of a vector and
// consists of vectors.
CopyRows rows_of_tile(const TiledBlock& block, const TiledView& view, const Tile& tile,
                      const GroupFacts& facts) {
  CopyRows out;
  const int64_t vector = vector_of(view, facts);
  const std::optional<size_t> along = row_index(view, facts);
  if (!along || tile[*along] % vector != 0 ||
      static_cast<int64_t>(staged_extent(view.dims[0], tile)) % vector != 0)
    return out;
  out.vector = vector;
  out.across = are_transposed(block, view, *along, tile);
  return out;
}

}  // namespace

Copies::Copies(const TiledBlock& block, const Tile& tile, const GroupRates& rates)
    : facts_(rates.facts) {
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    Copy& copy = copies_.emplace_back();
    copy.rows = rows_of_tile(block, view, tile, facts_);
    const int64_t elements = std::max<int64_t>(1, rates.line_bytes / view.element_bytes);
    std::array<CopySide, kMostDims> sides;
    size_t count = 0;
    for (size_t d = 0; d < view.dims.size(); ++d) {
      const auto size = static_cast<int64_t>(staged_extent(view.dims[d], tile));
      if (size <= 1) continue;
      const CopySide side{size, view.dims[d].stride * staged_step(view.dims[d], tile)};
      if (count == kMostDims) {
        sides[count - 1].range = saturating_product(sides[count - 1].range, size);
        continue;
      }
      size_t at = count++;
      for (; at > 0 && takes_lanes_before(side, sides[at - 1], elements); --at)
        sides[at] = sides[at - 1];
      sides[at] = side;
      // The row is the first dimension.
      if (at <= copy.rows.index && d > 0) ++copy.rows.index;
    }
    copy.dims = count;
    for (size_t d = 0; d < count; ++d) copy.sizes[d] = sides[d].range;
  }
}

double Copies::instructions(int64_t group_lanes) const {
  double out = 0;
  for (const Copy& copy : copies_) {
    const CopyRounds of = copy_rounds({copy.sizes.data(), copy.dims}, copy.rows, group_lanes);
    out += of.rounds *
           (of.in_vectors ? round_of_vector(copy.rows, facts_) : facts_.copy_element_instructions);
  }
  return out;
}

double least_copying(const TiledBlock& block, const TiledView& view, const Tile& low,
                     const GroupFacts& facts) {
  const std::optional<size_t> along = row_index(view, facts);
  if (!along) return facts.copy_element_instructions;
  CopyRows rows;
  rows.vector = vector_of(view, facts);
  rows.across = are_transposed(block, view, *along, low);
  return std::min(round_of_vector(rows, facts) / static_cast<double>(rows.vector),
                  facts.copy_element_instructions);
}

}  // namespace stria::cost::group
