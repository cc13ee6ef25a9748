// SPDX-License-Identifier: Apache-2.0
// Says which execution unit runs a block.
//
//   #kernel #contraction block [x:8] (…) { S }            reqs: contraction, loc: CONV
//   #kernel #contraction block<CONV> [x:8] (…) { S }
//
// Requires: nothing; `where` leaves blocks alone whose present location is another. Ensures: the
// location alone changes, and with it no meaning, for options cannot name an index of the block.
// Runs once the blocks have their final shape and before passes that ask where a block runs.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/locate/location_changes.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocateBlockOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a block must have
  stripe::Location loc;                        // units of the hardware model, outermost first
  bool append = false;                         // inside the unit where the block is already
  stripe::Location where;  // pattern that its present location must fit; none = any
};

void describe(LocateBlockOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if one runs
// nothing.
Status locate_block(stripe::Program& program, const LocateBlockOptions& options,
                    PassContext& context);

// What `locate_block` does with one block, before `changes` are settled.
void locate(stripe::Block& block, const LocateBlockOptions& options, LocationChanges& changes,
            PassContext& context);

}  // namespace stria::passes
