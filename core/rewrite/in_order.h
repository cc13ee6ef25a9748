// SPDX-License-Identifier: Apache-2.0
// For passes that insert statements into a block without finding dependencies for them.
#pragma once

#include "stria/stripe/block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

// Makes the block's statements run in the order in which they stand, which their dependencies
// allow: removes the dependencies and the tag #deps. `compute_deps` finds the dependencies again.
inline void run_in_order(stripe::Block& block) {
  for (stripe::Statement& stmt : block.stmts) stmt.deps.clear();
  block.tags.remove(stripe::tag::kDeps);
}

}  // namespace stria::passes
