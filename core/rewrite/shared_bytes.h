// SPDX-License-Identifier: Apache-2.0
// Which statements of a #placed program use bytes that an earlier one uses as another allocation.
// What may share bytes was never alive together as the statements ran before, and stays so if all
// users of the one wait for all users of the other.
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

  // By statement of the block: the users of the allocations that had its bytes last. Those of
  // earlier ones come before these, for they are waited for in the same way.
  std::vector<std::vector<size_t>> of(const stripe::Block& block) const;

 private:
  std::vector<std::set<size_t>> used_in(const stripe::Block& block) const;
  void add_inside(const stripe::Block& block, std::set<size_t>& used) const;

  const stripe::AllocationLives lives_;
  std::map<const stripe::Block*, std::vector<size_t>> by_owner_;
  std::vector<size_t> memory_;  // by allocation: equal where all of the locations are
  std::vector<size_t> first_;   // allocation of each memory
};

}  // namespace stria::passes
