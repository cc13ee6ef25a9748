// SPDX-License-Identifier: Apache-2.0
// The valid index sets of a contraction (rule M1) as a loop nest: indices from 0, the constraints
// that are needed, and every access as an affine form over those indices, divisions gone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/poly/affine.h"
#include "stria/tile/bound.h"

namespace stria::lower_detail {

struct Iteration {
  struct Index {
    std::string name;
    int64_t range = 1;  // > 1
  };
  bool empty = false;  // no valid index set
  std::vector<Index> indices;
  std::vector<Affine> constraints;  // each >= 0
  std::vector<Affine> out_access;
  std::vector<std::vector<Affine>> operand_access;
};

Result<Iteration> make_iteration(const tile::BoundContraction& contraction);

}  // namespace stria::lower_detail
