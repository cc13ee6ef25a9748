// SPDX-License-Identifier: Apache-2.0
// Spreads what a point of a block does over the lanes of a group.
//
//   #group block [i:4] (in A[32*i], out C[32*i]) {                                   group_lanes: 8
//     0: block [j:32] (in A[j], out C[j]) { S }
//   }
//   #group block<CU[i]> [i:4] (in A[32*i], out C[32*i]) {
//     0: block<LANE[j_lane]> [j_lane:8] (in A[j_lane], out C[j_lane]) {
//       0: #lane block [j:4] (in A[8*j], out C[8*j]) { S }
//     }
//     1: special barrier()
//   }
//
// Each block inside shares its output indices out in powers of two: neighbouring lanes take
// neighbouring elements of the tensor that comes from outside; where a range is no power of two
// some lanes pause. A block without output indices stays a loop around lanes, or is one lane's.
// What the block holds in `registers` is distributed: each element to the lane that works on it, in
// every block that does; with `run_bytes`, so many bytes in a row where what is read lies in a row
// too, and where the sums do they become a block tagged #vector; so do rows that a #copy block
// copies, to rows, or across where lanes have so many elements that they issue fewer accesses then.
// Elements that a #copy block turns one by one on their way to a memory of which the model knows
// the banks (as wide as an element) are taken by lanes whose elements are in different ones. With
// `pairs`, lanes that fetch vectors along two indices stand in squares: so many neighbours differ
// in the second index, then come those of the first. Requires: different points write different
// elements; nothing in the group is a #pipeline of several points, which no barrier would part
// (S13). Ensures: a barrier stands between each two blocks of lanes (`barrier` takes away what
// nothing needs). Runs before barrier and pipeline.
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
  int64_t group_lanes = 256;                  // lanes of a group, a power of two
  std::string group = "CU";       // execution unit of a group, for blocks without a location
  std::string registers = "REG";  // memory unit that each lane has of its own
  int64_t access_bytes = 32;      // that neighbouring lanes should touch together
  int64_t run_bytes = 0;          // in a row that a lane takes of what it holds in registers
  int64_t pairs = 1;  // neighbouring lanes that differ in the second index of what they hold
  std::vector<std::string> inner_set = {"lane"};  // tags of what one lane does of a block
};

void describe(ThreadLanesOptions& options, OptionFields& fields);
// not_found if the model has units but not these, invalid_argument if `group_lanes` or `pairs` is no
// power of two.
Status thread_lanes(stripe::Program& program, const ThreadLanesOptions& options,
                    PassContext& context);

}  // namespace stria::passes
