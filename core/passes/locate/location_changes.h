// SPDX-License-Identifier: Apache-2.0
// Locations that a pass sets, and that are restored in kernels which would not be legal with them.
// A barrier needs a located block around it, nothing may load or store beside lane blocks, and
// lanes keep what they hold (S11, S12).
#pragma once

#include <map>

#include "stria/base/status.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

class LocationChanges {
 public:
  // Sets a location of a block or refinement of the program, and remembers the old one.
  void set(stripe::Location& location, stripe::Location then);

  // To be called after all changes. Restores the locations in kernels that are not legal now, notes
  // the reason, and counts the others as changed.
  Status settle(stripe::Program& program, PassContext& context);

 private:
  Status settle(stripe::Program& program, stripe::Block& section, PassContext& context);
  // Counts the changes in the block, and restores them if `take_back` is set.
  int64_t inside(stripe::Block& block, bool take_back);

  std::map<stripe::Location*, stripe::Location> before_;
};

}  // namespace stria::passes
