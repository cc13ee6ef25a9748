// SPDX-License-Identifier: Apache-2.0
// Removes what no output of the program depends on: statements, blocks, refinements.
//
//   block [x:8] (in A[x], in B[x], out C[x], none new T[0]) {
//     0: $a = load(A); 1: $b = load(B); 2: $t = neg.fp32($b); 3: T = store($t); 4: C = store($a)
//   }
//   block [x:8] (in A[x], out C[x]) { 0: $a = load(A); 1: C = store($a) }
//
// A store is live if its allocation is an output of the program, or if a live statement anywhere
// loads from that allocation. Everything else follows from what live statements need. Always kept
// are: the refinements of the program and the views of #main and #prologue, which are the
// interface; what the prologue writes; the body of a #stencil block, which is one operation; and
// barriers whose block stays. A statement that waited for a removed one waits for what that one
// waited for.
//
// Requires: nothing. Ensures: the same outputs. Runs after passes that leave results unused
// (constant_fold, common_subexpression, localize) and before those that place buffers.
//
// The binder drops what no output needs, so no shipped pipeline runs it. It is for Stripe that
// other front ends make, and for pipelines whose own passes leave results unused.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct DeadCodeOptions {
  std::vector<std::string> reqs;  // tags of the blocks; their insides too; none = the whole program
  bool refinements = true;        // remove refinements that nothing uses
};

void describe(DeadCodeOptions& options, OptionFields& fields);
Status dead_code(stripe::Program& program, const DeadCodeOptions& options, PassContext& context);

}  // namespace stria::passes
