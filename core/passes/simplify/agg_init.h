// SPDX-License-Identifier: Apache-2.0
// Writes out the start of each aggregation: a store of the identity. No emitter then has to invent
// an initial value.
//
//   block [i:4] (out C[i, 0]:add.i32) { 0: block [k:9, j:8] (…, out C[0, j]:add.i32) { C += … } }
//   block [i:4] (out C[i, 0]) {
//     0: block [j:8] (out C[0, j]) { C = store(0) }
//     1: block [k:9, j:8] (…, inout C[0, j]:add.i32) { C += … }
//   }
//
// The start stands at the innermost level at which the points around it write disjoint elements. An
// element that is written only once needs no start: its store stops aggregating. Only elements that
// are written get the identity; integer sets find them exactly. If a tensor stores a narrower type
// than it aggregates in, its running values get an accumulator of the wider type.
//
// Requires: nothing. Ensures: no `out` refinement has an aggregation; the values are the same. Runs
// after the passes that move, cut and vectorise reductions: they need not keep a start in step with
// them. For a group it runs before thread_lanes, because a start beside lane blocks is illegal; a
// pipeline with groups has it twice.
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
  // Split a block that loops over outputs and reductions into two, so that the start stands between
  // them and not before the whole block.
  bool cut = false;
};

void describe(AggInitOptions& options, OptionFields& fields);
// unsupported or unknown, naming the kernel and the tensor, if a start cannot be written out: the
// written elements are beyond the analysis.
Status agg_init(stripe::Program& program, const AggInitOptions& options, PassContext& context);

}  // namespace stria::passes
