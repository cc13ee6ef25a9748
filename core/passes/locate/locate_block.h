// SPDX-License-Identifier: Apache-2.0
// Says which execution unit runs a block.
//
//   #kernel #contraction block [x:8] (…) { S }            reqs: contraction, loc: CONV
//   #kernel #contraction block<CONV> [x:8] (…) { S }
//
// With `inside` it locates the blocks inside those that `reqs` selects, at any depth:
//
//   #kernel block<CORE[t]> [t:2] (…) {                     inside, inner_reqs: tile, loc: CONV
//     0: #tile block [x:8] (…) { S }
//   }
//   #kernel block<CORE[t]> [t:2] (…) {
//     0: #tile block<CONV> [x:8] (…) { S }
//   }
//
// Requires: nothing; with `where`, blocks at another location are left alone. Ensures: only the
// location changes. That changes no value, since options cannot name an index of the block. Runs
// when the blocks have their final shape, and before passes that ask where a block runs. With
// `inside` it runs after the passes that cut blocks, and locates what they made.
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
  bool append = false;                         // add them to the location that the block has
  stripe::Location where;               // pattern that its present location must match; none = any
  bool inside = false;                  // locate the blocks inside those that have the tags
  std::vector<std::string> inner_reqs;  // tags that a block inside must have
};

void describe(LocateBlockOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if one runs
// nothing, or if `inner_reqs` are given without `inside`.
Status locate_block(stripe::Program& program, const LocateBlockOptions& options,
                    PassContext& context);

}  // namespace stria::passes
