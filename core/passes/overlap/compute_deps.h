// SPDX-License-Identifier: Apache-2.0
// Says which statements of a block must wait for which, and frees the others.
//
//   #main block [] (…) {                    #main #deps block [] (…) {
//     0: block (in A, out T) {…}              0: block (in A, out T) {…}
//     1: block (in B, out U) {…}              1: block (in B, out U) {…}
//     2: block (in T, in U, out C) {…}        2[0, 1]: block (in T, in U, out C) {…}
//   }                                       }
//
// A statement waits for an earlier one if at one point of the block both touch an element that one
// of them writes, or it uses a scalar that the other defines; for a barrier everything waits. Two
// that only add to one running aggregation do not wait for each other. In a #placed program it also
// waits for one that uses bytes which it uses as another allocation. Which elements meet is
// decided exactly, by intervals and then by integer sets; what is undecided waits. Requires:
// nothing; dependencies that are there are made anew. Ensures: the block is tagged #deps and its
// dependencies are the fewest that keep the order of every such pair: without any one of them some
// pair would be free. Runs after the passes that add, drop or move statements, and before schedule
// and memory_placement, which live on what may overlap.
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
  int64_t solver_steps = 0;                  // for one block; 0 = no limit
};

void describe(ComputeDepsOptions& options, OptionFields& fields);
Status compute_deps(stripe::Program& program, const ComputeDepsOptions& options,
                    PassContext& context);

}  // namespace stria::passes
