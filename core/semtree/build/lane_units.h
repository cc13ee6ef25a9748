// SPDX-License-Identifier: Apache-2.0
// The units that the lane blocks of a kernel name, which a plugin may check against its device; and
// the values of bit forms over coordinates, private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

// A unit of which a group has several, as WARP, and LANE in each WARP.
struct LaneUnit {
  std::string name;
  int64_t count = 1;   // numbers that lane blocks use, from 0
  int64_t inside = 1;  // lanes in one of them
};

// A block with unit numbers in its location, inside the located kernel (docs/semantics.md S11).
bool is_lane_block(const stripe::Block& block);

// The most lanes of a group, and the most elements of a stencil's operand.
inline constexpr int64_t kMostLanes = 1 << 16;

// The lanes of a group in rows of so many, which run in step: lane l is in subgroup l / lanes. A
// device has none if `lanes` is 0.
struct Subgroups {
  std::string unit = "SUBGROUP";
  int64_t lanes = 0;
};
// Is it a block for whole subgroups: located at their unit alone, without lane blocks inside?
bool is_subgroup_block(const stripe::Block& block, const Subgroups& subgroups);

// Outermost first; empty if the kernel has no lane blocks. Blocks for whole subgroups stand beside
// blocks of lanes that are numbered through the group; those count as the one unit then. Fails
// where blocks disagree about which unit stands inside which, and beyond kMostLanes.
Result<std::vector<LaneUnit>> lane_units(const stripe::Block& kernel,
                                         const Subgroups& subgroups = {});

// The value of a bit form, as an affine form. `coordinates` are affine over `box` (inclusive
// ranges). Fails with the reason if a field takes part of a variable, or if terms may carry into
// each other.
Result<Affine> value_of(const stripe::BitFieldForm& form, const std::vector<Affine>& coordinates,
                        const std::map<std::string, Interval>& box);
// Do lanes hold its elements together, as matrices whose layout only the device knows (S15)?
bool is_fragment(const stripe::Refinement& allocation);
// The bit form named `slot`, or of matrices `fragment`, of a distributed allocation's location
// (S12), else null.
const stripe::BitFieldForm* slot_form(const stripe::Refinement& allocation);
// The slots that one lane holds: the largest slot over all coordinates, and one; saturates.
int64_t slots_of(const stripe::Refinement& allocation);

}  // namespace stria::semtree
