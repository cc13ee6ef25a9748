// SPDX-License-Identifier: Apache-2.0
// Cuts a long reduction, so that what one register tile reads of it is still in a cache when the
// next tile reads it again.
//
//   #kernel block [i:64, j:64, k:4096] (in A[k, i], in B[k, j], out C[i, j]:add.fp32) { S }
//   #kernel block [i:2, k:16] (in A[256*k, 32*i], in B[256*k, 0], out C[32*i, 0]:add.fp32) {
//     0: #reduction_part block [i:32, j:64, k:256] (in A[k, i], …, out C[i, j]:add.fp32) { S }
//   }
//
// The block around loops over parts of the outputs, and inside each over parts of the reduction; a
// block inside has all register tiles of both. Which outputs are cut, and how often, is the choice
// of the shortest time: what is read comes into the memory for each part anew, running values go
// through memory once for each part of the reduction, and the last core's last part is waited for.
// A large second factor of few rows is thus read once, by parts of its columns. Parts are whole
// register tiles, those that `autotile` would choose by the cost `registers` were the parts in the
// memory already. Where one register tile reads no more than the cache holds, or has all outputs,
// or where it takes as long without, nothing is cut, and the block itself gets the tag: the
// reduction then runs whole in registers, which needs no traffic for running values. Requires:
// points of the block commute; its running values may be kept in the tensor that it writes (else it
// is not cut). Ensures: the same points run. Runs after order_indices, whose innermost reduction
// indices stay whole first, and before the register tile is cut from the blocks that it tags;
// vectorize is told to keep running values inside them.
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
  int64_t percent = 50;        // of one instance, for what is read
  std::string unit = "CORE";   // execution unit of the model; its count is the number of cores
  int64_t parts_per_core = 8;  // of the outputs, at most
  int64_t min_steps = 64;  // of the reduction in a part; shorter parts are not worth their traffic
  bool only_if_shorter = true;  // false: cut wherever one register tile reads more than fits
  int64_t min_range = 4;        // shortest vector index, as for vectorize
};

void describe(BlockReductionOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not these.
Status block_reduction(stripe::Program& program, const BlockReductionOptions& options,
                       PassContext& context);

}  // namespace stria::passes
