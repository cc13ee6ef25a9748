// SPDX-License-Identifier: Apache-2.0
// Moves consumers next to their producers.
//
//   0: block (in A, out T) {…}    1: block (in A, out U) {…}
//   2: block (in T, out B) {…}    3: block (in U, out C) {…}
//
//   0: block (in A, out T) {…}    1: block (in T, out B) {…}
//   2: block (in A, out U) {…}    3: block (in U, out C) {…}
//
// The pass takes the statements one by one, of those whose predecessors are done. The next one is a
// reader of what the last statement wrote; if there is none, a reader of what the statement before
// that wrote, and so on. Among several, and if there is none at all, the first one in the old order
// is next.
//
// Requires: nothing. Ensures: the same values. Two statements keep their order if one of them
// touches an element that the other one writes; dependencies are renumbered. Runs before fusion and
// localize, which look at neighbours. It also brings the first and the last use of a buffer
// together, which helps memory_placement.
//
// Lowering puts kernels in the order of the Tile text, which the shipped pipelines keep. It is for
// programs whose text computes early what is needed late.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ReorderBlocksOptions {
  std::vector<std::string> reqs = {"main"};  // tags of the blocks whose statements move
};

void describe(ReorderBlocksOptions& options, OptionFields& fields);
Status reorder_blocks(stripe::Program& program, const ReorderBlocksOptions& options,
                      PassContext& context);

}  // namespace stria::passes
