// SPDX-License-Identifier: Apache-2.0
// Moves a buffer that only one inner block uses into that block. There it is only as large as one
// point needs.
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
// Requires: the buffer is an allocation (`none`) with one view, in one block, and different points
// of that block see disjoint parts of it. A point then reads only what it has written itself.
// Ensures: the same values; the buffer has dense strides for its new size. The pass goes on inside
// the block that got the buffer, and may move it further. Runs after passes that bring the writer
// and the reader of a buffer into one block, and before scalarize, which makes scalars of buffers
// of one element.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocalizeOptions {
  // Tags of the blocks whose buffers move; their insides too.
  std::vector<std::string> reqs = {"main"};
  std::vector<std::string> ref_reqs;  // tags that a buffer must have
};

void describe(LocalizeOptions& options, OptionFields& fields);
Status localize(stripe::Program& program, const LocalizeOptions& options, PassContext& context);

}  // namespace stria::passes
