// SPDX-License-Identifier: Apache-2.0
// Which lanes of a group hold which sums of its tile, where each lane fetches what its sums need
// from the group's local memory.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::cost {

// A tensor that is read.
struct SumRead {
  std::vector<bool> moved;  // by which indices
  int64_t elements = 1;     // at one step of them: more where lanes take vectors
};

// Lanes of each index, powers of two whose product is at most `group_lanes`. `ranges`: what there is of
// each index to share out (vectors, where lanes take such). First as few steps of each lane as
// there can be; then the fewest elements that a lane loads, of each tensor as many as the lane has
// steps of the indices that move it: squares of sums rather than strips; then lanes of the earlier
// indices. Index 0 gets at least `first` lanes if it has so many: neighbouring lanes write
// neighbouring elements along it.
std::vector<int64_t> plan_sum_lanes(const std::vector<int64_t>& ranges,
                                    const std::vector<SumRead>& reads, int64_t group_lanes,
                                    int64_t first);

}  // namespace stria::cost
