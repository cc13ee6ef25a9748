// SPDX-License-Identifier: Apache-2.0
// Removes the barriers that no two lanes need.
//
//   0: block<LANE[i]> [i:8] (out A_scratch[i]) { fetch }
//   1: special barrier()
//   2: block<LANE[i]> [i:8] (out B_scratch[i]) { fetch }
//   3: special barrier()
//   4: block<LANE[i]> [i:8] (in A_scratch[0], in B_scratch[0]) { use }
//
//   0: block<LANE[i]> [i:8] (out A_scratch[i]) { fetch }
//   1: block<LANE[i]> [i:8] (out B_scratch[i]) { fetch }
//   2: special barrier()
//   3: block<LANE[i]> [i:8] (in A_scratch[0], in B_scratch[0]) { use }
//
// A barrier goes if the kernel without it still obeys the rule of lanes (S11): what one lane
// writes, no other lane touches before a barrier. This also holds from one iteration of a loop to
// the next. The barriers in the innermost loops are tried first. If the rule cannot be decided, the
// barrier stays.
//
// Requires: nothing. Ensures: none of the remaining barriers could be removed alone; the values are
// the same. Runs after thread_lanes, which puts a barrier between any two blocks of lanes.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct BarrierOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
};

void describe(BarrierOptions& options, OptionFields& fields);
Status barrier(stripe::Program& program, const BarrierOptions& options, PassContext& context);

}  // namespace stria::passes
