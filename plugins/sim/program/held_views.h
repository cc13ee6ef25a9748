// SPDX-License-Identifier: Apache-2.0
// Where the refinements of a block lie at a point, and which of them are of sums that go on (C7).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/machine.h"
#include "stria/stripe/block.h"

namespace stria::sim {

using IndexValues = std::map<std::string, int64_t>;
// Where a refinement lies, and whether it is of a sum that goes on.
struct HeldView {
  UnitInstance memory;
  // How many points of the loops around add to the same elements, the first of which may start
  // them; infinite: none of them does. 0: no loop around holds the sum.
  double points = 0;
};
using Memories = std::map<std::string, HeldView>;  // of refinements

// Indices that a point does not have are 0.
int64_t value_at(const Affine& form, const IndexValues& point);
bool moves_with(const stripe::Refinement& ref, const std::string& index);

// The memory that a refinement lies in at a point of its block's indices. Without a location it is
// that of the view around it; without that one its name is empty. `around` may be null.
UnitInstance memory_of(const stripe::Refinement& ref, const IndexValues& point,
                       const Memories* around);
// The same, and the points of the block and of the loops around it that add to the same elements
// (S6: of a chain the outermost refinement says whether the first of them starts the sum).
HeldView view_of(const stripe::Block& block, const stripe::Refinement& ref,
                 const IndexValues& point, const Memories* around);
// Those of the loops around; 0: the refinement itself decides, and it starts the sum.
double points_before(const stripe::Refinement& ref, const Memories* around);

// The refinements of a block whose sums its statement `s` goes on with: a statement before it has
// added to elements of them that this one adds to. `own`: those of the block.
std::vector<std::string> continued_sums(const stripe::Block& block, size_t s, const Memories& own);

}  // namespace stria::sim
