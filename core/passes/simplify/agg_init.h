// SPDX-License-Identifier: Apache-2.0
// Writes out where an aggregation starts, so that no emitter has to invent a value.
//
//   block [i:4] (out C[i, 0]:add.i32) { 0: block [k:9, j:8] (…, out C[0, j]:add.i32) { C += … } }
//   block [i:4] (out C[i, 0]) {
//     0: block [j:8] (out C[0, j]) { C = store(0) }
//     1: block [k:9, j:8] (…, inout C[0, j]:add.i32) { C += … }
//   }
//
// The start sinks to the innermost level at which the points above write disjoint elements; an
// element that is written once is stored plainly. Only elements that are written get the identity
// (exact sets). A tensor that stores a narrower type than it aggregates in gets its running values
// in the wider type. Requires: nothing. Ensures: no `out` refinement has an aggregation; values are
// the same. Runs last of the generic passes: every pass before may move, cut and vectorise
// reductions without keeping a start in step with them.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct AggInitOptions {
  std::vector<std::string> reqs;  // tags that a kernel must have; none: every kernel
  // Cut blocks that loop over outputs and reductions, so that the start comes between them and not
  // before all of it.
  bool cut = false;
};

void describe(AggInitOptions& options, OptionFields& fields);
// unsupported or unknown, naming the kernel and the tensor, if a start cannot be written out: the
// written elements are beyond the analysis.
Status agg_init(stripe::Program& program, const AggInitOptions& options, PassContext& context);

}  // namespace stria::passes
