// SPDX-License-Identifier: Apache-2.0
// Splits a loop over tiles so that the tiles inside need no test of each element and only those at
// the border keep theirs.
//
//   block [y:25] (…) { 0: #unroll block [y:4, y_0 = y] (97 - y - 4*y_0 >= 0; …) { S } }
//   block [y:24] (…) { 0: #unroll block [y:4] (…) { S } }
//   block [y:1] (…)  { 0: #unroll block [y:4, y_0 = 24 + y] (97 - y - 4*y_0 >= 0; …) { S } }
//
// Looks at constraints in blocks that have a tag of `expensive`: there a test costs a branch or a mask
// per operation; in a loop around them it is cheap. Where a constraint hangs on one index of the
// loop, its range is cut; where it hangs on several, the inner and the outer part are told apart by
// a constraint of the loop itself. Lanes (an index that the location names) stay together: a block
// of them is split by what holds for all of its lanes. Requires: points of the loop commute, and a
// block around it aggregates where it does (parts beside each other would start again). Ensures:
// the same points run, each once. Kernels are not split, which would make several of one. Runs
// after unroll, which says where tests are expensive, and after thread, whose inner block it splits.
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
  int64_t max_parts =
      7;  // a loop that would fall into more is left whole: each part is code of its own
  std::vector<std::string> expensive = {"unroll", "vector"};  // blocks where tests cost; none = all
  std::vector<std::string> interior_set;  // tags that the part without tests gets
  std::vector<std::string> border_set;    // tags that the other parts get
};

void describe(SplitInteriorOptions& options, OptionFields& fields);
Status split_interior(stripe::Program& program, const SplitInteriorOptions& options,
                      PassContext& context);

}  // namespace stria::passes
