// SPDX-License-Identifier: Apache-2.0
// The points of a block and of the blocks around it, as one integer set. All forms are rewritten
// over the indices that vary: each index of range over 1 becomes a variable that counts from 0 and
// has a name of its own, apart from those of other blocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stria/poly/integer_set.h"
#include "stria/stripe/block.h"

namespace stria::stripe {

struct BlockPoints {
  const BlockPoints* outer = nullptr;  // of the block around; null for the outermost
  std::vector<std::pair<std::string, Interval>> variables;  // of the block's own indices
  std::vector<Affine> constraints;                          // the block's own, each >= 0
  std::map<std::string, Affine> forms;  // the block's index names over all variables
  bool runs = true;                     // false: a range is 0, here or around
  bool exact = true;                    // false: a form was too large to compute with

  // The ranges of all variables, those of the blocks around included.
  std::map<std::string, Interval> box() const;
  // All constraints, those of the blocks around included.
  std::vector<Affine> all_constraints() const;
  // Needs `exact`.
  IntegerSet set() const;
};

// The points of `block`; the blocks around it have the points `outer`. `number` tells its variables
// from those of other blocks: index x becomes x@number.
BlockPoints points_of(const Block& block, const BlockPoints* outer, int64_t number);

// Do sums and differences of a few such forms stay within 64 bits?
bool is_small(const Affine& form);

}  // namespace stria::stripe
