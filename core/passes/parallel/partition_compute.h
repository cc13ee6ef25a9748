// SPDX-License-Identifier: Apache-2.0
// Cuts a block into about as many parts as there are units to run them.
//
//   #kernel block [i:12, j:10, k:32] (in A[i, k], in B[k, j], out C[i, j]:add) { S }        8 parts
//   #kernel block [#part i:4, #part j:2] (in A[3*i, 0], in B[0, 5*j], out C[3*i, 5*j]:add) {
//     0: block [i:3, j:5, k:32] (in A[i, k], in B[k, j], out C[i, j]:add) { S }
//   }
//
// Indices that are summed over stay whole: each part makes elements of its own. Of all ways to cut
// the others that one is taken whose number of parts is nearest to num_parts, where each part too
// many counts as two too few; then the one that runs over the fewest points beside the ranges
// (parts of equal size, but for the last), then that which cuts fewer indices, then that which cuts
// those with the larger stride in the output. Requires: points of the block commute. Ensures: the
// same points run; an uneven end has a constraint. Tags the outer block and, of its indices, those
// that count parts. Runs before the passes that tile what one unit does; locate_block then says
// which units, thread which of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PartitionComputeOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a block must have
  int64_t num_parts = 0;  // parts that are wanted; 0 = as many as the model has of `unit`
  std::string unit;       // execution unit of the model
  std::vector<std::string> set_tags;  // tags added to the outer block
  std::string idx_tag;                // tag added to the indices that count parts
  int64_t only_multiple_of = 1;       // tiles are multiples of this, or whole
  bool only_even = false;             // tiles divide their ranges
};

void describe(PartitionComputeOptions& options, OptionFields& fields);
// invalid_argument if neither num_parts nor a unit says how many parts; not_found or
// invalid_argument if the model has units but not this one.
Status partition_compute(stripe::Program& program, const PartitionComputeOptions& options,
                         PassContext& context);

}  // namespace stria::passes
