// SPDX-License-Identifier: Apache-2.0
// Multi-buffers a loop: it fetches what its next points work on while it works on this one.
//
//   #steps block [k:8] (in A[8*k] fp32(8:1), …, none new<LOCAL> A_scratch[0] fp32(8:1)) {  depth: 2
//     0: fetch A_scratch   1: special barrier()   2: use A_scratch   3: special barrier()
//   }
//   #steps #pipeline=2 block [k:8] (…, none new<LOCAL> A_scratch[0] fp32(8:1)) {
//     0: fetch A_scratch   1: special barrier()   2: use A_scratch
//   }
//
// The loop's allocations then exist `depth` times (S13), or once with `one_copy`. A barrier at the
// end of the loop is removed if the rules of the IR hold without it: the fetch of the next point
// has a copy of its own.
//
// Requires: a loop with allocations of its own. Ensures: the same values; the verifier can still
// decide all that it could decide before; all copies fit into the memory. Runs after thread_lanes,
// which refuses groups that hold a pipeline, and after barrier, which leaves only the barriers that
// are needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PipelineLoopOptions {
  std::vector<std::string> reqs = {"steps"};  // tags that a loop inside a kernel must have
  int64_t depth = 0;   // points under way at once; 0 = what the model gives the unit around, or 2
  std::string memory;  // memory unit that must hold all copies; "" = not checked
  // Lanes hold what they fetch for the next point until this one is done (tag #one_copy), so that
  // one copy of the allocations is enough.
  bool one_copy = false;
};

void describe(PipelineLoopOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status pipeline(stripe::Program& program, const PipelineLoopOptions& options, PassContext& context);

}  // namespace stria::passes
