// SPDX-License-Identifier: Apache-2.0
// Locations that a pass sets, taken back in kernels that would not be legal with them: a barrier
// needs a located block around it, nothing loads or stores beside lane blocks, and lanes hold what
// they hold (S11, S12).
#pragma once

#include <map>

#include "stria/base/status.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

class LocationChanges {
 public:
  // Sets the location, which is a block's or a refinement's of the program, and remembers what was
  // there.
  void set(stripe::Location& location, stripe::Location then);

  // After all of them: takes back those in kernels that are not legal now, with the reason, and
  // counts the others as changed.
  Status settle(stripe::Program& program, PassContext& context);

 private:
  Status settle(stripe::Program& program, stripe::Block& section, PassContext& context);
  // Those in the block, taken back if asked to; how many there are.
  int64_t inside(stripe::Block& block, bool take_back);

  std::map<stripe::Location*, stripe::Location> before_;
};

}  // namespace stria::passes
