// SPDX-License-Identifier: Apache-2.0
// Says which execution unit runs a block.
//
//   #kernel #contraction block [x:8] (…) { S }            reqs: contraction, loc: CONV
//   #kernel #contraction block<CONV> [x:8] (…) { S }
//
// Changes no meaning unless the location names an index of the block, which options cannot. Runs
// once the blocks have their final shape and before passes that ask where a block runs.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocateBlockOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a block must have
  stripe::Location loc;                        // units of the hardware model, outermost first
};

void describe(LocateBlockOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if one runs
// nothing.
Status locate_block(stripe::Program& program, const LocateBlockOptions& options,
                    PassContext& context);

}  // namespace stria::passes
