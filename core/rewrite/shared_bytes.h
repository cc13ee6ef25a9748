// SPDX-License-Identifier: Apache-2.0
// Which statements of a #placed program use bytes that an earlier statement uses as another
// allocation. Allocations that share bytes were not alive together in the old order of statements.
// They stay so if all users of the later one wait for all users of the earlier one.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/block.h"

namespace stria::passes {

class SharedBytes {
 public:
  // Borrows `entry`, which must keep its allocations while this lives.
  explicit SharedBytes(const stripe::Block& entry);

  // For each statement of the block: the users of the allocations that had its bytes just before.
  // Users of still earlier ones need not be listed, since the former wait for them in the same way.
  std::vector<std::vector<size_t>> of(const stripe::Block& block) const;

 private:
  std::vector<std::set<size_t>> used_in(const stripe::Block& block) const;
  void add_inside(const stripe::Block& block, std::set<size_t>& used) const;

  const stripe::AllocationLives lives_;
  std::map<const stripe::Block*, std::vector<size_t>> by_owner_;
  std::vector<size_t> memory_;  // by allocation: equal numbers for equal locations
  std::vector<size_t> first_;   // the first allocation of each memory
};

}  // namespace stria::passes
