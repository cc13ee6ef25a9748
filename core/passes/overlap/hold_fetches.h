// SPDX-License-Identifier: Apache-2.0
// Lets lanes hold what a pipelined loop fetches (hint #hold, S20). The loads for the next point run
// before the rest of this one, which hides their latency, and their stores behind it.
//
//   #pipeline=2 block [k:8] (in A[8*k] fp32(8:1), …, none new<LOCAL> t[0] fp32(8:1)) {
//     0: block<LANE[j]> [j:8] (in A[j] fp32(1:1), out t[j] fp32(1:1)) {
//       0: $a = load(A)   1: t = store($a)
//     }
//     1: special barrier()   2: use t
//   }
//   #pipeline=2 #hold block [k:8] (…)       the loads for k+1, barrier, use t, the stores for k+1
//
// A loop gets the hint if what stands before its first barrier consists of loads of the kernel's
// arguments, which the loop does not write, and of stores to memory that lanes share. A loop in
// there must be #unroll: each load needs a register of its own.
//
// Requires: nothing. Ensures: the same values. Runs last, after unroll.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct HoldFetchesOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
};

void describe(HoldFetchesOptions& options, OptionFields& fields);
Status hold_fetches(stripe::Program& program, const HoldFetchesOptions& options,
                    PassContext& context);

}  // namespace stria::passes
