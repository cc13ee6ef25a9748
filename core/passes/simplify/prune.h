// SPDX-License-Identifier: Apache-2.0
// Removes what does nothing: indices of one value, constraints that always hold, blocks that never
// run, refinements that nothing uses.
//
//   block [n:1, x:8, x_0 = x] (7 - x >= 0; in I[n, x], in K[0], out O[n, x]) { O = store(load(I)) }
//   block [x:8] (in I[0, x], out O[0, x]) { O = store(load(I)) }
//
// Requires: nothing. Keeps: the statements of #main and #prologue that run, the refinements of both
// and of the program (they are the program's interface), index ranges as they are where a
// constraint cuts them. Runs first, so that later passes see indices that mean something, and after
// passes that bring values in for constraints that are gone now.
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
