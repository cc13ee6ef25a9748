// SPDX-License-Identifier: Apache-2.0
// What split_block made outside, as a part of a block that does other things as well.
#pragma once

#include <map>
#include <string>

#include "stria/stripe/block.h"

namespace stria::passes {

// Gives the block's indices other names, each form being one index.
void rename_indices(stripe::Block& block, const std::map<std::string, Affine>& names);

// Moves what holds for `outer` alone, its name, tags and constraints, into the one block inside.
void keep_inside(stripe::Block& outer);

}  // namespace stria::passes
