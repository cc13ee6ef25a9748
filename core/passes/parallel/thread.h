// SPDX-License-Identifier: Apache-2.0
// Spreads a kernel over the cores: an outermost block tagged #parallel over some output indices,
// with enough points that all cores are busy to the end.
//
//   #kernel block [i:1024, k:64, j:64] (in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S } 2 cores
//   #kernel #parallel block<CORE> [i:16] (in A[64*i, 0], in B[0, 0], out C[64*i, 0]:add.fp32) {
//     0: block [i:64, k:64, j:64] (in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   }
//
// Requires: points of the kernel block commute. Ensures: no two points of the #parallel block write
// the same element; reductions and overlapping indices run inside. Kernels with less work than a
// core does in the time it takes to start the others stay on one core. Runs after autotile and
// vectorize, so that tiles and lanes are not cut, and before split_interior and agg_init, which
// then work inside one core's part.
//
// With `threads`, spreads what a point of a block does over the lanes of a group instead:
//
//   #group block [i:4] (in A[32*i], out C[32*i]) { 0: block [j:32] (in A[j], out C[j]) { S } }   8
//   threads #group block<CU[i]> [i:4] (in A[32*i], out C[32*i]) {
//     0: block<ITEM[j_lane]> [j_lane:8] (in A[j_lane], out C[j_lane]) {
//          0: #lane block [j:4] (in A[8*j], out C[8*j]) { S } }
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

struct ThreadOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string unit = "CORE";  // execution unit of the model; its count is the number of cores
  // More points even the load out and cost a start each. 0: every point of the output indices is
  // one.
  int64_t points_per_core = 8;
  int64_t min_work = 32768;  // statements run; less stays on one core
  // The group form; with it `unit` is that of one lane.
  int64_t threads = 0;       // lanes of a group, a power of two; 0 = spread kernels over the cores
  std::string group = "CU";  // execution unit of a group, for blocks without a location
  std::string registers = "REG";  // memory unit that each lane has of its own
  int64_t access_bytes = 32;      // that neighbouring lanes should touch together
  int64_t run_bytes = 0;          // in a row that a lane takes of what it holds in registers
  int64_t pairs = 1;  // neighbouring lanes that differ in the second index of what they hold
  std::vector<std::string> inner_set = {"lane"};  // tags of what one lane does of a block
};

void describe(ThreadOptions& options, OptionFields& fields);
// not_found if the model has units but not this one, invalid_argument if it runs nothing.
Status thread(stripe::Program& program, const ThreadOptions& options, PassContext& context);

}  // namespace stria::passes
