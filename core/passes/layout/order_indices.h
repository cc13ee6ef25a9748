// SPDX-License-Identifier: Apache-2.0
// Orders the indices of a block so that the loops walk along memory. Output indices are outside, by
// falling stride in the written tensor. The others follow, by falling stride in the tensors read.
//
//   #kernel block [c:3, x:1600, y:1200] (in P[y, x, c] fp32(…), out S[y, x]:add.fp32 fp32(…)) { S }
//   #kernel block [y:1200, x:1600, c:3] (in P[y, x, c] fp32(…), out S[y, x]:add.fp32 fp32(…)) { S }
//
// Requires: points of the block commute. Ensures: the same points run, in another order. Runs
// early, since passes that split blocks keep the order that they find. Generic Stripe orders
// indices by name, which has nothing to do with memory.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct OrderIndicesOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a block must have
};

void describe(OrderIndicesOptions& options, OptionFields& fields);
Status order_indices(stripe::Program& program, const OrderIndicesOptions& options,
                     PassContext& context);

}  // namespace stria::passes
