// SPDX-License-Identifier: Apache-2.0
// Removes what does nothing: indices of one value, constraints that always hold, blocks that never
// run, refinements that nothing uses.
//
//   block [n:1, x:8, x_0 = x] (7 - x >= 0; in I[n, x], in K[0], out O[n, x]) { O = store(load(I)) }
//   block [x:8] (in I[0, x], out O[0, x]) { O = store(load(I)) }
//
// Interval arithmetic decides whether a constraint holds.
//
// Requires: nothing. Ensures: the same values. It keeps the statements of #main and #prologue that
// run; the refinements of both and of the program, which are the program's interface; and every
// index range, even where a constraint cuts it. Runs first, so that later passes see only indices
// and constraints that matter, and again after passes that bring in outer values for constraints
// which are gone now.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PruneOptions {
  std::vector<std::string> reqs;  // tags of the blocks; their insides too; none = the whole program
  bool indices = true;            // remove indices of one value
  bool constraints = true;        // remove constraints that always hold, blocks that never run
  bool refinements = true;        // remove refinements that nothing uses
};

void describe(PruneOptions& options, OptionFields& fields);
Status prune(stripe::Program& program, const PruneOptions& options, PassContext& context);

}  // namespace stria::passes
