// SPDX-License-Identifier: Apache-2.0
// Gives the lanes of a group that has fewer outputs than lanes parts of the reduction, whose sums
// it then adds up in pairs; so do lanes of a group that says how many parts there are.
//
//   #group block [] (…, none new<REG> S_acc[] fp32()) {                               group_lanes: 4
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
// Where neighbouring lanes are to take neighbouring parts (the reduction runs along the rows of
// what is read) and the memory that lanes exchange sums in has banks, the parts' sums lie an odd
// number of elements apart in it, if no block inside stages something there. The parts' sums of
// several reductions lie in one place.
//
// Requires: a block with an allocation in which sums grow (`cache` makes them): blocks that clear
// it, loops around one innermost block that adds to it, blocks that read it. Ensures: the values
// change only by the order of the sum (M10). Runs after cache, and before thread_lanes, which makes
// lanes of the parts.
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
  int64_t group_lanes = 256;                  // lanes of a group; a power of two
  int64_t parts = 0;      // a power of two; 0: as many as it takes for every lane to have one
  int64_t radix = 2;      // sums that a lane adds up at once; a power of two
  int64_t min_steps = 1;  // of the reduction that each lane keeps, at least
  bool round_up = false;  // to the next power of two parts, some of them empty; else to that below
  stripe::Location loc;   // where lanes exchange sums: a memory unit
  stripe::Location part_loc;  // of the sum of each lane; none: where the sums were
};

void describe(RollupOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not these.
Status rollup(stripe::Program& program, const RollupOptions& options, PassContext& context);

}  // namespace stria::passes
