// SPDX-License-Identifier: Apache-2.0
// Says which statements of a block must wait for which; all others may overlap.
//
//   #main block [] (…) {                    #main #deps block [] (…) {
//     0: block (in A, out T) {…}              0: block (in A, out T) {…}
//     1: block (in B, out U) {…}              1: block (in B, out U) {…}
//     2: block (in T, in U, out C) {…}        2[0, 1]: block (in T, in U, out C) {…}
//   }                                       }
//
// A statement waits for an earlier one in these cases:
//
// - At one point of the block both touch an element that one of them writes. Two statements that
// only add to one running aggregation do not wait for each other.
// - It uses a scalar that the other one defines.
// - One of them is a barrier.
// - The program is #placed, and both use the same bytes, as different allocations.
//
// Intervals decide which elements meet, and then integer sets, exactly. If that is undecided, the
// statement waits.
//
// Requires: nothing; given dependencies are replaced. Ensures: the block is tagged #deps, and its
// dependencies are the fewest that keep the order of every such pair. Without any one of them, some
// pair would have no order. Runs after the passes that add, drop or move statements, and before
// schedule and memory_placement, which depend on what may overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ComputeDepsOptions {
  std::vector<std::string> reqs = {"main"};  // tags that a block must have
  bool inside = false;                       // the blocks inside them too
  int64_t solver_steps = 0;                  // of about 2 ns, for one block; 0 = no limit
};

void describe(ComputeDepsOptions& options, OptionFields& fields);
Status compute_deps(stripe::Program& program, const ComputeDepsOptions& options,
                    PassContext& context);

}  // namespace stria::passes
