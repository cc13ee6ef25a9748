// SPDX-License-Identifier: Apache-2.0
// Cuts a long reduction into parts. What one register tile reads of a part is then still in a cache
// when the next tile reads it again.
//
//   #kernel block [i:64, j:64, k:4096] (in A[k, i], in B[k, j], out C[i, j]:add.fp32) { S }
//   #kernel block [i:2, k:16] (in A[256*k, 32*i], in B[256*k, 0], out C[32*i, 0]:add.fp32) {
//     0: #reduction_part block [i:32, j:64, k:256] (in A[k, i], …, out C[i, j]:add.fp32) { S }
//   }
//
// The outer block loops over parts of the outputs, and inside each over parts of the reduction. The
// inner block holds all register tiles of one part. The pass chooses which outputs to cut, and how
// often, by the shortest time. The time counts what comes into the memory anew for each part, the
// running values that go through memory once for each part of the reduction, and the wait for the
// last part of the last core. A large second factor of few rows is thus read once, by parts of its
// columns.
//
// A part consists of whole register tiles. They are those that `autotile` would choose with the
// cost `registers` if the part were in the memory already.
//
// Nothing is cut if one register tile reads no more than the cache holds, if it has all outputs, or
// if cutting does not save time. The block itself then gets the tag, and the whole reduction runs
// in registers, without traffic for running values.
//
// Requires: points of the block commute. Its running values may be kept in the tensor that it
// writes; else it is not cut. Ensures: the same points run. Runs after order_indices, since the
// innermost reduction indices stay whole first, and before register tiles are cut from the blocks
// that it tags. vectorize is told by the tag to keep running values inside these blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct BlockReductionOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a block must have
  std::vector<std::string> inner_set = {"reduction_part"};    // tags of the inner block
  std::string memory = "L2";   // memory unit of the model; each core has one
  int64_t percent = 50;        // of one instance that may hold what is read
  std::string unit = "CORE";   // execution unit of the model; its count is the number of cores
  int64_t parts_per_core = 8;  // of the outputs, at most
  int64_t min_steps = 64;  // of the reduction in a part, at least; less is not worth the traffic
  bool only_if_shorter = true;  // false: cut wherever one register tile reads more than fits
  // An index with fewer points gets no lanes; 0: the calibration of the model says.
  int64_t min_range = 0;
};

void describe(BlockReductionOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not these.
Status block_reduction(stripe::Program& program, const BlockReductionOptions& options,
                       PassContext& context);

}  // namespace stria::passes
