// SPDX-License-Identifier: Apache-2.0
// What a group's lanes issue to bring a step's operands into local memory. Used in this folder and
// by its tests.
//
// A copy's lanes are powers of two of each dimension (plan_copy), so that each lane goes round
// ceil(size / lanes) times for each dimension, all multiplied; a round takes
//
//   kStraight   a vector, which lies in a row on both sides
//   kTurned     so many bytes of a vector that is read, of which each element is stored on its own
//   kSingle     an element
//
// copy_rounds says for `thread_lanes`, too, whether rows are copied in vectors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/group_time.h"

namespace stria::cost::group {

// Instructions of a lane's round.
inline constexpr double kStraight = 1, kTurned = 127, kSingle = 20.7;

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
};

// For each element of the view not above what all lanes together issue for any tile that is at
// least `low`, index by index.
double least_copying(const TiledBlock& block, const TiledView& view, const Tile& low);

}  // namespace stria::cost::group
