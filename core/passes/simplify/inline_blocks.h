// SPDX-License-Identifier: Apache-2.0
// Inlines blocks of one point into the block around them.
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
// Requires: the inner block has one point, no constraint and no location. Each of its views is the
// element that the view around it is, with the same aggregation. Ensures: the same values. The
// allocations and tags of the inner block become those of the outer one. Either all blocks inside a
// block are inlined, or none, so that a changed block holds scalar statements only. Runs after
// fusion, which leaves such blocks where a part is one point; before scalarize, which makes scalars
// of the buffers between them; and before vectorize, which takes blocks of scalar statements only.
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
