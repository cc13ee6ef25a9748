// SPDX-License-Identifier: Apache-2.0
// Makes straight-line code of a block: marks it for emitters, or writes out the values of one
// index.
//
//   block [co:4, y:4] (…) { 0: #vector block [l:16] (…) { S } }                    (no expand_idx)
//   #unroll block [co:4, y:4] (…) { 0: #vector block [l:16] (…) { S } }
//
//   0: block<CORE[t]> [t:2, x:4] (in A[4*t + x], out C[4*t + x]) { S }             expand_idx: t
//   0: block<CORE[0]> [x:4] (in A[x], out C[x]) { S }
//   1: block<CORE[1]> [x:4] (in A[4 + x], out C[4 + x]) { S }
//
//   #unroll_hint block [k:16] (…) { S }                                            hint: true
//
// A mark changes no meaning. Accumulators in registers need it: a register has no address, so its
// subscript must be a constant.
//
// Writing out replaces the block by one copy for each value of the index, with the value inserted
// everywhere, locations included. With make_views the copies stay inside a block of their own. That
// block has a separate view for each copy and refinement, so that the units of one copy see only
// its part.
//
// Requires, for writing out: the index is the outermost that varies, or it is parallel, or points
// commute; no copy would start an aggregation again that the block starts; and lanes do not combine
// over the index. Ensures: the same values. Runs after the passes that cut blocks, and before
// split_interior, which looks for constraints inside marked blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct UnrollOptions {
  std::vector<std::string> reqs = {"register_tile"};  // tags that a block must have
  // Larger blocks stay loops. The limit counts points of the block; with expand_idx, values of the
  // index; with hint, points of the block and of the blocks inside it.
  int64_t max_points = 64;
  std::string expand_idx;   // the index that is written out, by name or #tag; "" = mark only
  bool hint = false;        // blocks stay loops, marked #unroll_hint as a request to the compiler
  bool make_views = false;  // the copies stay inside a block that has a view for each
  std::string part_name;    // tag that each copy gets, its value the index's; "" = none
};

void describe(UnrollOptions& options, OptionFields& fields);
Status unroll(stripe::Program& program, const UnrollOptions& options, PassContext& context);

}  // namespace stria::passes
