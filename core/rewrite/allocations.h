// SPDX-License-Identifier: Apache-2.0
// For every refinement of a program, the allocation of which it is a view.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

class Allocations {
 public:
  // Borrows `entry`: blocks and refinements must stay where they are while this lives.
  explicit Allocations(const stripe::Block& entry) { scan(entry, {}); }

  // The number of the allocation behind the refinement `name` of the block.
  size_t of(const stripe::Block& block, const std::string& name) const {
    return names_.at(&block).at(name);
  }

  struct Allocation {
    const stripe::Block* owner = nullptr;
    const stripe::Refinement* ref = nullptr;
  };
  // By number, in program order.
  const std::vector<Allocation>& all() const { return allocations_; }

 private:
  using Names = std::map<std::string, size_t>;  // refinement -> allocation
  void scan(const stripe::Block& block, const Names& around);

  std::vector<Allocation> allocations_;
  std::map<const stripe::Block*, Names> names_;
};

}  // namespace stria::passes
