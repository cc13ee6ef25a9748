// SPDX-License-Identifier: Apache-2.0
// Drops constraints that always hold, cuts ranges down to the values that run, and removes blocks
// that never do, by what is true at the points of the blocks around them.
//
//   block [y:8] (6 - y >= 0 …) {
//     0: block [x:10, y_0 = y] (-2 + x >= 0; 30 - x - 2*y_0 >= 0 …) { S }
//   }
//   block [y:7] (…) {
//     0: block [x:8, y_0 = y] (…) { S }                                with x + 2 for x in S
//   }
//
// Exact: intervals decide first, integer sets over all enclosing points what they leave open,
// within the budget; what is undecided stays. prune does what intervals alone see, and renames
// nothing. Requires: nothing. Keeps: #vector blocks' ranges (their lanes), #stencil blocks (their
// operation), the only writer of what a block that stays reads. Ensures: the same points run. Runs
// after the passes that cut blocks, and before those that ask where tests are needed
// (split_interior) or how much work there is.
//
// `prune` does what programs made from Tile need, so no shipped pipeline runs it. It is for Stripe
// that other front ends make, whose blocks test what the blocks around them have tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ConstraintReductionOptions {
  std::vector<std::string> reqs;         // tags of the blocks; their insides too; none = all
  std::vector<std::string> skip_idxs;    // indices whose ranges stay, by name or #tag
  bool exact = true;                     // integer sets, not intervals alone
  int64_t solver_steps = 1'000'000'000;  // for one selected block; 0 = no limit
};

void describe(ConstraintReductionOptions& options, OptionFields& fields);
Status constraint_reduction(stripe::Program& program, const ConstraintReductionOptions& options,
                            PassContext& context);

}  // namespace stria::passes
