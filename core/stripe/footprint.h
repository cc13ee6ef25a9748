// SPDX-License-Identifier: Apache-2.0
// What part of its parent view a refinement touches over a whole run of its block, and whether two
// views of one tensor overlap. Boxes only: constraints are ignored, so the answers are upper
// bounds.
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

// The shape that holds that part: sizes of the footprint, strides and type of the refinement.
TensorShape exterior_shape(const Refinement& ref, const std::map<std::string, Interval>& box);

// Bytes of the exterior's elements, each counted once. Saturates.
int64_t footprint_bytes(const Refinement& ref, const std::map<std::string, Interval>& box);

enum class Overlap { disjoint, partial, same };

// How the parts touched by two refinements of one parent view relate, each over its own block's
// box: `disjoint` is certain; `same` means the identical view at every point of an identical box;
// all else is `partial`. Refinements of different parents' names are disjoint.
Overlap overlap(const Refinement& a, const std::map<std::string, Interval>& box_a,
                const Refinement& b, const std::map<std::string, Interval>& box_b);

}  // namespace stria::stripe
