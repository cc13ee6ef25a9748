// SPDX-License-Identifier: Apache-2.0
// Gives each statement of a block a loop of its own over several of the block's points (loop
// distribution), so that a group runs these points together.
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
// The pass cuts the index of the block that has the smallest stride in what is written. The number
// of points together is a power of two, chosen so that the largest statement has about `points`.
// There must remain groups enough for all units, and what the block allocates must stay within
// `max_local_bytes`. Blocks of one point that hold only blocks (fusion leaves such) are inlined
// first.
//
// With `lane_points` a point stays alone if two statements or more are work for `min_group_lanes`
// lanes (at least half of `lane_points` for each). Its group gets fewer lanes: so few that each has
// `lane_points` points at most, but enough to keep all units at work. The tag #group_lanes says how
// many. Such statements wait for each other, so fewer lanes leave room for more groups, which load
// meanwhile. `group_lanes` must be the same as for rollup and thread_lanes.
//
// Requires: the block's points commute, and its statements are blocks. Ensures: the same values. If
// points run together, what the block allocates has one more dimension. Runs after the fusion of
// row operations, and before cache, rollup and thread_lanes, which divide the points of each
// statement among lanes.
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
  int64_t points = 0;       // of the largest statement, about; 0: the calibration of `unit` says
  std::string unit = "CU";  // execution unit of the model that runs a group
  int64_t groups_per_unit = 8;  // that remain for each, at least
  // That the block allocates, at most; 0: no limit; -1: the calibration of `unit` says.
  int64_t max_local_bytes = -1;
  int64_t lane_points = 0;  // of the largest statement for a lane; 0: use all lanes
  // Lanes of a group; powers of two; 0: the calibration of `unit` says.
  int64_t min_group_lanes = 0, group_lanes = 0;
};

void describe(DistributeOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status distribute(stripe::Program& program, const DistributeOptions& options, PassContext& context);

}  // namespace stria::passes
