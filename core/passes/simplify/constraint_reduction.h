// SPDX-License-Identifier: Apache-2.0
// Drops constraints that always hold, shrinks index ranges to the values that run, and removes
// blocks that never run. It uses what is true at the points of the blocks around.
//
//   block [y:8] (6 - y >= 0 …) {
//     0: block [x:10, y_0 = y] (-2 + x >= 0; 30 - x - 2*y_0 >= 0 …) { S }
//   }
//   block [y:7] (…) {
//     0: block [x:8, y_0 = y] (…) { S }                                with x + 2 for x in S
//   }
//
// Interval arithmetic decides first. What it leaves open, integer sets over all enclosing points
// decide exactly, within a budget. What is then still undecided stays. The pass `prune` does what
// intervals alone can decide.
//
// Requires: nothing. Ensures: the same points run. It keeps the ranges of #vector blocks, whose
// lanes they count, the bodies of #stencil blocks, which define an operation, and a block that is
// the only writer of what a later block reads. Runs after the passes that cut blocks, and before
// those that ask where tests are needed (split_interior) or how much work there is.
//
// Programs made from Tile need no more than `prune`, so no shipped pipeline runs it. It is for
// Stripe that other front ends make, whose blocks repeat the tests of the blocks around them.
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
  bool exact = true;                     // by integer sets, not by intervals alone
  int64_t solver_steps = 1'000'000'000;  // of about 2 ns, for one selected block; 0 = no limit
};

void describe(ConstraintReductionOptions& options, OptionFields& fields);
Status constraint_reduction(stripe::Program& program, const ConstraintReductionOptions& options,
                            PassContext& context);

}  // namespace stria::passes
