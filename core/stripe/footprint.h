// SPDX-License-Identifier: Apache-2.0
// The part of its parent view that a refinement touches over a whole run of its block. Answers are
// boxes: constraints are ignored, so they are upper bounds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::stripe {

// For each dimension the inclusive range of the parent view's coordinates that the refinement
// touches while the block's indices run over `box` (Place::box or Block::index_box). Empty
// intervals if a size or a range is 0. Saturates at the int64 limits.
std::vector<Interval> footprint(const Refinement& ref, const std::map<std::string, Interval>& box);

// The same, with everything that the block's statements touch through the refinement, views of
// views included. These may overhang (S4), and so reach beyond the refinement's sizes. `block`
// holds `ref`; `box` are the ranges of its indices.
std::vector<Interval> reach(const Block& block, const Refinement& ref,
                            const std::map<std::string, Interval>& box);

// The part that the block's statements touch through its refinement, counted from the view's first
// element; at least the view itself.
std::vector<Interval> reach_of_view(const Block& block, const Refinement& ref,
                                    const std::map<std::string, Interval>& box);

// Does something in the block, or in what it holds, read what the refinement views?
bool is_loaded(const Block& block, const Refinement& ref);

}  // namespace stria::stripe
