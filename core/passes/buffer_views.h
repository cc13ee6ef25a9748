// SPDX-License-Identifier: Apache-2.0
// What has to follow when a buffer gets another layout.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// Gives the views of the refinement `name` of the block around the statement the strides of `dims`.
void restride_views(stripe::Statement& stmt, const std::string& name, const std::vector<Dim>& dims);

// Gives all views of the block's refinement `name`, in the blocks inside, the strides of `dims`.
void restride_views(stripe::Block& block, const std::string& name, const std::vector<Dim>& dims);

// Gives all views of the refinement `name` around the statement this location; they are no views of
// a constant any more.
void locate_views(stripe::Statement& stmt, const std::string& name,
                  const stripe::Location& location);

}  // namespace stria::passes
