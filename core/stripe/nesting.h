// SPDX-License-Identifier: Apache-2.0
// How deep blocks are nested; kMaxDepth of parser.h is the limit.
#pragma once

#include <algorithm>

#include "stria/stripe/block.h"

namespace stria::stripe {

// The depth of nesting, `block` included.
inline int depth_of(const Block& block) {
  int below = 0;
  for (const Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block()) below = std::max(below, depth_of(*inner));
  return below + 1;
}

}  // namespace stria::stripe
