// SPDX-License-Identifier: Apache-2.0
// Blocks that do one thing with one value of each tensor that they read.
#pragma once

#include "stria/stripe/block.h"

namespace stria::passes {

// The one operation, of two operands that may change places, that joins one value of each input
// (the `in` refinements) to the one value that is stored; null if that is not what the block does.
// Looks through blocks that hold nothing but the next one. Points into the block.
const stripe::Intrinsic* combiner(const stripe::Block& block);

}  // namespace stria::passes
