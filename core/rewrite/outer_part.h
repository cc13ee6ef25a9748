// SPDX-License-Identifier: Apache-2.0
// Steps for a pass that makes the outer block of split_block a part of a larger block.
#pragma once

#include <map>
#include <string>

#include "stria/stripe/block.h"

namespace stria::passes {

// Gives the block's indices other names. Each form must be a single index.
void rename_indices(stripe::Block& block, const std::map<std::string, Affine>& names);

// Moves the name, the tags and the constraints of `outer` into the one block inside it.
void keep_inside(stripe::Block& outer);

}  // namespace stria::passes
