// SPDX-License-Identifier: Apache-2.0
// Plain blocks only hold other blocks: they have no index, constraint, location or dependencies,
// and their views are the whole of what they view.
#pragma once

#include "stria/stripe/block.h"

namespace stria::passes {

// Replaces the plain blocks among the block's statements by what they hold, and moves their
// allocations to the block. The values stay the same.
void open_plain_blocks(stripe::Block& block);

}  // namespace stria::passes
