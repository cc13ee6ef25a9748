// SPDX-License-Identifier: Apache-2.0
// Brings statements that use what another makes next to it.
//
//   0: block (in A, out T) {…}    1: block (in A, out U) {…}
//   2: block (in T, out B) {…}    3: block (in U, out C) {…}
//
//   0: block (in A, out T) {…}    1: block (in T, out B) {…}
//   2: block (in A, out U) {…}    3: block (in U, out C) {…}
//
// Takes the statements one by one: of those whose predecessors are done, one that reads what the
// last one wrote, else what the one before that wrote, and so on; of several, and if there is none,
// the first as they stood. Requires: nothing. Ensures: two statements of which one touches an
// element that the other writes keep their order, so the values are the same; dependencies follow.
// Runs before fusion and localize, which look at neighbours, and brings buffers' first and last
// uses together for memory_placement.
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
