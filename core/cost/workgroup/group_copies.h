// SPDX-License-Identifier: Apache-2.0
// What a group's lanes issue to copy a step's operands into local memory. For this folder and its
// tests.
//
// A copy takes lanes by powers of two along each dimension (plan_copy). Each lane goes round
// ceil(size / lanes) times along each dimension, all multiplied. A round takes so many
// instructions:
//
//   copy_vector_instructions    for a vector that lies in a row on both sides
//   copy_turned_instructions    for kVector elements of a vector that is read at once and stored
//                               one by one
//   copy_element_instructions   for an element
//
// copy_rounds says, also to the pass `thread_lanes`, whether rows are copied in vectors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/group_time.h"

namespace stria::cost::group {

// The copies of one tile.
class Copies {
 public:
  Copies(const TiledBlock& block, const Tile& tile, const GroupRates& rates);
  // Instructions of each of so many lanes.
  double instructions(int64_t group_lanes) const;

 private:
  static constexpr size_t kMostDims = 6;
  struct Copy {
    std::array<int64_t, kMostDims> sizes{};  // first what lanes are neighbours along
    size_t dims = 0;
    CopyRows rows;
  };
  std::vector<Copy> copies_;
  const GroupFacts& facts_;
};

// A bound for each element of the view: not above what all lanes together issue for any tile that
// is at least `low`, index by index.
double least_copying(const TiledBlock& block, const TiledView& view, const Tile& low,
                     const GroupFacts& facts);

}  // namespace stria::cost::group
