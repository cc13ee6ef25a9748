// SPDX-License-Identifier: Apache-2.0
// Gives each statement of a block a loop of its own over some of the block's points (loop
// distribution), so that a group does several of them together.
//
//   #rows block [i:64] (in A[i, 0], none new S[0] fp32(1:1), out R[i, 0]) {              points: 32
//     0: block [k:8] (in A[0, k], out S[0]:add.fp32) { sum }
//     1: block [k:8] (in A[0, k], in S[0], out R[0, k]) { A / S }
//   }
//   #rows block [i:16] (in A[4*i, 0], none new S[0, 0] fp32(4:1, 1:1), out R[4*i, 0]) {
//     0: block [i:4, k:8] (in A[i, k], out S[i, 0]:add.fp32) { sum }
//     1: block [i:4, k:8] (in A[i, k], in S[i, 0], out R[i, k]) { A / S }
//   }
//
// Of the block's indices that with the smallest stride in what is written is cut, in a power of
// two: so many points that the largest statement has about `points`, while there are groups enough
// for all units and what the block keeps inside stays within `max_local_bytes`. Blocks of one point
// that hold blocks (fusion leaves them) are written into the block first.
//
// With `lane_points` a point stays alone if two statements or more are work for `min_group_lanes` lanes
// (half of `lane_points` for each at least). Its group has as few lanes as have `lane_points` at
// most, but as many as keep all units at work, and tag #group_lanes says how many. Such statements wait
// for each other: the fewer lanes do, the more groups load meanwhile. `group_lanes` is what rollup and
// thread_lanes have as well.
//
// Requires: the block's points commute, its statements are blocks. Ensures: the same values; where
// points go together what the block keeps inside has a dimension more. Runs after fusion of what is
// done row by row, and before cache, rollup and thread_lanes, which share the points of each
// statement out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct DistributeOptions {
  std::vector<std::string> reqs = {"rows"};  // tags that a block must have
  int64_t points = 4096;                     // of the largest statement, about
  std::string unit = "CU";                   // execution unit of the model that runs a group
  int64_t groups_per_unit = 8;               // left for each, at least
  int64_t max_local_bytes = 16384;           // inside the block, at most; 0: no limit
  int64_t lane_points = 0;                   // of the largest statement for a lane; 0: all lanes
  int64_t min_group_lanes = 64, group_lanes = 256;  // lanes of a group; powers of two
};

void describe(DistributeOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status distribute(stripe::Program& program, const DistributeOptions& options, PassContext& context);

}  // namespace stria::passes
