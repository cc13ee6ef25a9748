// SPDX-License-Identifier: Apache-2.0
// Which lanes of a group hold which sums of its tile. Each lane fetches what its sums need from the
// group's local memory.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::cost {

// A tensor that is read.
struct SumRead {
  std::vector<bool> moved;  // by which indices
  int64_t elements = 1;     // at one step of an index: more if lanes take vectors
};

// The number of lanes along each index: powers of two whose product is at most `group_lanes`.
// `ranges`: what there is to share out along each index (vectors, if lanes take such). The plan
// first makes the steps of each lane as few as possible. Then it makes the elements that a lane
// loads as few as possible: a lane loads of each tensor as many as it has steps of the indices that
// move that tensor, so squares of sums beat strips. Then it prefers lanes along earlier indices.
// Index 0 gets at least `first` lanes if it has so many points: neighbouring lanes write
// neighbouring elements along it.
std::vector<int64_t> plan_sum_lanes(const std::vector<int64_t>& ranges,
                                    const std::vector<SumRead>& reads, int64_t group_lanes,
                                    int64_t first);

}  // namespace stria::cost
