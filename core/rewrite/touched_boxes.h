// SPDX-License-Identifier: Apache-2.0
// What each statement of a block touches through a view, where stripe::reach says what all do
// together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stria/poly/affine.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Coordinates of the parent view, one box for each block statement that touches elements through
// `ref`, and one for loads, stores and specials together, while the block's indices run over `box`.
// Points that the block's or the statement's constraints leave out do not count, as far as bounds
// of single indices say so: of "63 - i >= 0" at most 64 values of i run. `block` holds `ref`. Upper
// bounds, which saturate at the int64 limits.
std::vector<std::vector<Interval>> touched_boxes(const stripe::Block& block,
                                                 const stripe::Refinement& ref,
                                                 std::map<std::string, Interval> box);

}  // namespace stria::passes
