// SPDX-License-Identifier: Apache-2.0
// Writes the statements of blocks of one point into the block around.
//
//   block [x:8] (in A[x], none new T[0] fp32(1:1), out C[x]) {
//     0: block [] (in A[0], out T[0]) { $a = load(A); $t = neg.fp32($a); T = store($t) }
//     1: block [] (in T[0], out C[0]) { $t = load(T); $c = exp.fp32($t); C = store($c) }
//   }
//   block [x:8] (in A[x], none new T[0] fp32(1:1), out C[x]) {
//     $a = load(A); $t = neg.fp32($a); T = store($t)
//     $t_0 = load(T); $c = exp.fp32($t_0); C = store($c)
//   }
//
// Requires: of the inner block that it has one point, no constraint and no unit of its own, and
// that each of its views is the element that the view around it is, combined in the same way.
// Ensures: the same values; its allocations are the outer block's, its tags as well. All blocks of
// a block go, so that what is left are statements alone, or none. Runs after fusion, whose parts
// are such blocks where they are points, and before scalarize, which makes scalars of what they
// hand on, and vectorize, which takes statements only.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct InlineBlocksOptions {
  std::vector<std::string> reqs = {"main"};  // tags of the blocks that are searched; insides too
};

void describe(InlineBlocksOptions& options, OptionFields& fields);
Status inline_blocks(stripe::Program& program, const InlineBlocksOptions& options,
                     PassContext& context);

}  // namespace stria::passes
