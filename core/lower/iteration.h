// SPDX-License-Identifier: Apache-2.0
// The valid index sets of a contraction (rule M1) as loop nests: indices from 0, the constraints
// that are needed, and each access as an affine form over those indices, without divisions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/lower/set_work.h"
#include "stria/poly/affine.h"
#include "stria/tile/bind/bound.h"

namespace stria::lower_detail {

struct Iteration {
  struct Index {
    std::string name;
    int64_t range = 1;  // > 1
    // A residue: what is between two steps of another index, as x_0 in O[2*x + x_0].
    bool residue = false;
  };
  bool empty = false;  // no valid index set
  std::vector<Index> indices;
  std::vector<Affine> constraints;  // each >= 0
  std::vector<Affine> out_access;
  std::vector<std::vector<Affine>> operand_access;
};

struct Iterations {
  Iteration whole;
  // The same points, in kernels: `whole` itself, or one part for each combination of the residues
  // that its output tells apart, with a smaller box each. Different parts write different elements.
  // Empty if there is no valid index set.
  std::vector<Iteration> kernels;
};

// out_of_range or unknown, naming the form, if a division cannot be solved.
Result<Iterations> make_iterations(const tile::BoundContraction& contraction, SetWork& work);

// Points of the box.
double volume(const Iteration& iteration);

// The indices whose different values write different elements, whatever the other indices are.
std::set<std::string> apart_indices(const Iteration& iteration);

}  // namespace stria::lower_detail
