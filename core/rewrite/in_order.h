// SPDX-License-Identifier: Apache-2.0
// Dependencies, for passes that put statements between others and know nothing of who waits for
// them.
#pragma once

#include "stria/stripe/block.h"

namespace stria::passes {

// The block's statements run in the order in which they stand, which their dependencies allow; they
// and the tag #deps go. `compute_deps` finds them again.
inline void run_in_order(stripe::Block& block) {
  for (stripe::Statement& stmt : block.stmts) stmt.deps.clear();
  block.tags.remove("deps");
}

}  // namespace stria::passes
