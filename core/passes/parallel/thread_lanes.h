// SPDX-License-Identifier: Apache-2.0
// Spreads the work of one point of a block over the lanes of a group.
//
//   #group block [i:4] (in A[32*i], out C[32*i]) {                                 group_lanes: 8
//     0: block [j:32] (in A[j], out C[j]) { S }
//   }
//   #group block<CU[i]> [i:4] (in A[32*i], out C[32*i]) {
//     0: block<LANE[j_lane]> [j_lane:8] (in A[j_lane], out C[j_lane]) {
//       0: #lane block [j:4] (in A[8*j], out C[8*j]) { S }
//     }
//     1: special barrier()
//   }
//
// The output indices of each block inside are divided among the lanes, in powers of two.
// Neighbouring lanes take neighbouring elements of the tensor that comes from outside. If a range
// is no power of two, some lanes pause. A block without output indices stays a loop around lanes,
// or one lane runs it.
//
// What the block holds in `registers` is distributed: in every block, an element belongs to the
// lane that works on it. With `run_bytes` a lane takes so many contiguous bytes, if what is read is
// contiguous, too. If the sums are contiguous as well, the run becomes a block tagged #vector.
//
// A #copy block copies runs as vectors if both sides are contiguous. If one side lies across, its
// elements are accessed one by one; this is done if lanes have so many elements that they then
// issue fewer accesses. If a #copy block transposes single elements into or out of a memory whose
// banks the model knows, neighbouring lanes take elements in different banks. (A bank is as wide as
// an element.)
//
// With `pairs`, lanes that load vectors along two indices form squares: `pairs` neighbours differ
// in the second index, and then come those of the first.
//
// Blocks located at `subgroup` are for whole subgroups (matrix_units) and stay as they are.
//
// Requires: different points write different elements, and nothing in the group is a #pipeline of
// several points, which no barrier would separate (S13). Ensures: a barrier stands between any two
// blocks of lanes; `barrier` removes those that nothing needs. Runs before barrier and pipeline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ThreadLanesOptions {
  std::vector<std::string> reqs = {"group"};  // tags that a block must have
  std::string unit = "LANE";                  // execution unit of one lane
  // Of these, 0: the calibration of `group` says.
  int64_t group_lanes = 0;            // lanes of a group, a power of two
  std::string group = "CU";           // execution unit of a group, for blocks without a location
  std::string registers = "REG";      // memory unit that each lane has of its own
  std::string subgroup = "SUBGROUP";  // execution unit of lanes in step; its blocks stay whole
  int64_t access_bytes = 0;           // of one access that neighbouring lanes should share
  int64_t run_bytes = 0;              // contiguous bytes in registers that a lane takes
  int64_t pairs = 1;  // neighbouring lanes that differ in the second index of what they hold
  std::vector<std::string> inner_set = {"lane"};  // tags of the work of one lane in a block
};

void describe(ThreadLanesOptions& options, OptionFields& fields);
// not_found if the model has units but not these, invalid_argument if `group_lanes` or `pairs` is
// no power of two.
Status thread_lanes(stripe::Program& program, const ThreadLanesOptions& options,
                    PassContext& context);

}  // namespace stria::passes
