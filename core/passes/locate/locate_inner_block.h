// SPDX-License-Identifier: Apache-2.0
// Says which execution unit runs the blocks inside a block.
//
//   #kernel block<CORE[t]> [t:2] (…) {                     inner_reqs: tile, loc: CONV
//     0: #tile block [x:8] (…) { S }
//   }
//   #kernel block<CORE[t]> [t:2] (…) {
//     0: #tile block<CONV> [x:8] (…) { S }
//   }
//
// Requires: nothing. Ensures: the location of the inner blocks alone changes, and no meaning. It is
// locate_block for a tag that many kernels' insides share: `reqs` says in which of them. Runs after
// the passes that cut blocks, for what they made.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/passes/locate/locate_block.h"

namespace stria::passes {

struct LocateInnerBlockOptions {
  LocateBlockOptions outer;             // its reqs select the blocks that are searched
  std::vector<std::string> inner_reqs;  // tags that a block inside must have
};

void describe(LocateInnerBlockOptions& options, OptionFields& fields);
// Fails as locate_block does.
Status locate_inner_block(stripe::Program& program, const LocateInnerBlockOptions& options,
                          PassContext& context);

}  // namespace stria::passes
