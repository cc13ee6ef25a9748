// SPDX-License-Identifier: Apache-2.0
// The combiner of a block: the operation that joins one value of each tensor that it reads.
#pragma once

#include "stria/stripe/block.h"

namespace stria::passes {

// The one operation, with two exchangeable operands, that joins one value of each input (the `in`
// refinements) to the one value that is stored; null if the block does anything else. Looks through
// blocks that hold only the next block. Points into the block.
const stripe::Intrinsic* combiner(const stripe::Block& block);

}  // namespace stria::passes
