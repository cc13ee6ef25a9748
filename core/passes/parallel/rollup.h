// SPDX-License-Identifier: Apache-2.0
// Divides a reduction into parts for the lanes of a group, and then adds up the sums of the parts,
// in pairs (a tree reduction). It does so if the group has fewer outputs than lanes, or if the
// block's tag #parts says how many parts there are.
//
//   #group block [] (…, none new<REG> S_acc[] fp32()) {                          group_lanes: 4
//     0: clear S_acc
//     1: block [k:64] (in A[k], inout S_acc[]:add.fp32) { S_acc += A }
//     2: S = S_acc
//   }
//   #group block [] (…, none new<REG> S_acc[0] fp32(4:1), none new<LOCAL> S_sum_4[0] fp32(4:1),
//                    none new<LOCAL> S_sum_2[0] fp32(2:1), none new<LOCAL> S_sum[] fp32()) {
//     0: clear S_acc
//     1: block [k:16, part:4] (in A[4*k + part], inout S_acc[part]:add.fp32) { S_acc += A }
//     2: block [part:4] (…) { S_sum_4 = S_acc }
//     3: block [part:2] (…) { S_sum_2 = pairs of S_sum_4 }
//     4: block [] (…) { S_sum = pair of S_sum_2 }
//     5: S = S_sum
//   }
//
// Neighbouring lanes take neighbouring parts if the reduction runs along the rows of what is read.
// If the memory in which lanes exchange sums has banks, the sums of the parts then lie an odd
// number of elements apart; not so if a block inside stages something in that memory. The sums of
// the parts of several reductions share one buffer.
//
// Requires: a block with an accumulator (`cache` makes them). Its statements are blocks that set it
// to the identity, loops around one innermost block that adds to it, and blocks that read it.
// Ensures: the same values, except for the order of the sum (M10). Runs after cache, and before
// thread_lanes, which makes lanes of the parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct RollupOptions {
  std::vector<std::string> reqs = {"group"};  // tags that a block must have
  int64_t group_lanes = 0;                    // of a group; a power of two; 0: the calibration says
  int64_t parts = 0;      // of the reduction, a power of two; 0: one for every lane
  int64_t radix = 2;      // sums that a lane adds up at once; a power of two
  int64_t min_steps = 1;  // of the reduction in a part, at least
  // Round the number of parts up to a power of two, so that some may be empty; else down.
  bool round_up = false;
  stripe::Location loc;       // where lanes exchange sums: a memory unit
  stripe::Location part_loc;  // of the sum of each lane; none: where the accumulator was
};

void describe(RollupOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not these.
Status rollup(stripe::Program& program, const RollupOptions& options, PassContext& context);

}  // namespace stria::passes
