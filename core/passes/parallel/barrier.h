// SPDX-License-Identifier: Apache-2.0
// Takes away the barriers that no two lanes need.
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
// A barrier goes if the kernel without it still obeys the rule of lanes (S11): what one lane writes
// no other touches before a barrier, also from one pass of a loop to the next. Those in the
// innermost loops are tried first. Where the rule cannot be decided the barrier stays. Requires:
// nothing. Ensures: no barrier that is left can go alone; the values are the same. Runs after
// thread_lanes, which puts one between each two blocks of lanes.
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
