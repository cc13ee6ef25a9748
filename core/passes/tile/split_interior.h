// SPDX-License-Identifier: Apache-2.0
// Splits a loop over tiles: tiles in the interior need no tests, and only those at the border keep
// theirs.
//
//   block [y:25] (…) { 0: #unroll block [y:4, y_0 = y] (97 - y - 4*y_0 >= 0; …) { S } }
//   block [y:24] (…) { 0: #unroll block [y:4] (…) { S } }
//   block [y:1] (…)  { 0: #unroll block [y:4, y_0 = 24 + y] (97 - y - 4*y_0 >= 0; …) { S } }
//
// The pass looks at constraints in blocks that have a tag of `expensive`. There a test costs a
// branch or a mask for each operation, while in a loop around them it costs little. If a constraint
// depends on one index of the loop, the range of that index is cut. If it depends on several, a
// constraint of the loop itself separates the interior from the border. A block over the lanes of a
// group (its location names an index) is split only by what holds for all of its lanes, so that
// lanes stay together.
//
// Requires: points of the loop commute. If the loop aggregates, the aggregation starts in a block
// around it; otherwise each part would start it again. Ensures: the same points run, each once.
// Kernels are not split, since that would make several kernels of one. Runs after unroll, which
// says where tests are expensive, and after thread, whose inner block it splits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct SplitInteriorOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags of the kernels whose loops are split
  std::vector<std::string> loop_reqs;          // tags that a loop must have to be split
  // A loop that would be split into more parts stays whole, since each part is code of its own.
  int64_t max_parts = 7;
  std::vector<std::string> expensive = {"unroll", "vector"};  // blocks where tests cost; none = all
  std::vector<std::string> interior_set;  // tags that the part without tests gets
  std::vector<std::string> border_set;    // tags that the other parts get
};

void describe(SplitInteriorOptions& options, OptionFields& fields);
Status split_interior(stripe::Program& program, const SplitInteriorOptions& options,
                      PassContext& context);

}  // namespace stria::passes
