// SPDX-License-Identifier: Apache-2.0
// Moves a buffer that only one inner block uses into that block, where it is as small as one point
// needs.
//
//   block [] (in A, out C, none new T[0, 0] fp32(64:8, 8:1)) {
//     0: block [x:64] (in A[x, 0], inout T[x, 0] fp32(1:8, 8:1), out C[x, 0]) {
//       T = f(A); C = g(T)
//     }
//   }
//   block [] (in A, out C) {
//     0: block [x:64] (in A[x, 0], none new T[0, 0] fp32(1:8, 8:1), out C[x, 0]) {
//       T = f(A); C = g(T)
//     }
//   }
//
// Requires: a new refinement (`none`) with one view, in one block, whose points see disjoint parts
// of it: so no value passes from point to point, and what a point reads it wrote itself. Ensures:
// the same values; the buffer's dense strides fit its new size. Goes on inside: the block that got
// a buffer may hand it on. Runs after passes that bring a buffer's writer and reader into one
// block, and before scalarize, which makes scalars of buffers that have become one element.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocalizeOptions {
  std::vector<std::string> reqs = {
      "main"};                        // tags of the blocks whose buffers move; their insides too
  std::vector<std::string> ref_reqs;  // tags that a buffer must have
};

void describe(LocalizeOptions& options, OptionFields& fields);
Status localize(stripe::Program& program, const LocalizeOptions& options, PassContext& context);

}  // namespace stria::passes
