// SPDX-License-Identifier: Apache-2.0
// Blocks that only hold blocks: no index, constraint, unit or order of their own, and views that
// are what they view.
#pragma once

#include "stria/stripe/block.h"

namespace stria::passes {

// Puts what such blocks among the block's statements hold in their place, and their allocations
// beside the block's. The values stay.
void open_plain_blocks(stripe::Block& block);

}  // namespace stria::passes
