// SPDX-License-Identifier: Apache-2.0
// Cuts a block into about as many parts as there are units to run them.
//
//   #kernel block [i:12, j:10, k:32] (in A[i, k], in B[k, j], out C[i, j]:add) { S }        8 parts
//   #kernel block [#part i:4, #part j:2] (in A[3*i, 0], in B[0, 5*j], out C[3*i, 5*j]:add) {
//     0: block [i:3, j:5, k:32] (in A[i, k], in B[k, j], out C[i, j]:add) { S }
//   }
//
// Indices that are summed over stay whole, so that each part writes elements of its own. The pass
// compares all ways to cut the other indices by these rules, in this order:
//
// - The number of parts is nearest to num_parts; one part too many counts as two too few.
// - The parts, which have equal size, run over the fewest points beyond the ranges.
// - The fewest indices are cut.
// - The cut indices have the larger stride in the output.
//
// With `memory`, the unit's operands count too. Where they move over the ports of that memory for
// longer than the unit works, the even parts are chosen that take the shortest time
// (cost/staged/spread_parts.h), as the cost `staged_time` takes them to be: of a product, parts
// that are nearly square.
//
// Requires: points of the block commute. Ensures: the same points run; an uneven end has a
// constraint. The outer block, and those of its indices that count parts, get tags. Runs before the
// passes that tile the work of one unit. locate_block or thread then says which units run the
// parts.
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
  int64_t num_parts = 0;  // wanted number of parts; 0 = as many as the model has of `unit`
  std::string unit;       // execution unit of the model
  std::vector<std::string> set_tags;  // tags added to the outer block
  std::string idx_tag;                // tag added to the indices that count parts
  int64_t only_multiple_of = 1;       // tiles are multiples of this, or whole
  bool only_even = false;             // tiles divide their ranges
  std::string memory;                 // holds the operands; "": the number of parts decides alone
  int64_t banks = 1;                  // instances of it that operands are spread over
};

void describe(PartitionComputeOptions& options, OptionFields& fields);
// invalid_argument if neither num_parts nor a unit says how many parts; not_found or
// invalid_argument if the model has units but not this one.
Status partition_compute(stripe::Program& program, const PartitionComputeOptions& options,
                         PassContext& context);

}  // namespace stria::passes
