// SPDX-License-Identifier: Apache-2.0
// Which allocations of a program may be alive at the same time, and in one memory: what a #placed
// program is checked by, and what places it. An allocation is alive from its first to its last
// user: by position, in a #deps block by the paths of its dependencies. The entry's allocations,
// the program's tensors, always are. What statements allocate inside that no dependency orders may
// be alive together. Inside a pipelined block with N points under way an allocation has N places in
// a row, and what one point has finished with another may still use, so that everything there
// counts as alive together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::stripe {

struct LiveAllocation {
  const Refinement* ref = nullptr;
  const Block* owner = nullptr;
  int64_t bytes = 0;  // all places in a row; -1: 2^63 or more
  // The statements of the whole program, counted as they stand, from the first to the last at which
  // it may be alive if they run in this order.
  size_t first = 0, last = 0;
};

class AllocationLives {
 public:
  // Borrows `entry`, a legal program's but for its arenas; it must not change while this lives.
  explicit AllocationLives(const Block& entry);
  ~AllocationLives();

  // In program order: a block's before those inside it.
  const std::vector<LiveAllocation>& all() const { return all_; }
  bool alive_together(size_t a, size_t b) const;
  // A step of a location without numbers may be any of the unit's.
  bool may_be_one_memory(size_t a, size_t b) const;
  // Points of this block and of the pipelined ones around it that may be under way together; 0:
  // 2^63 or more.
  int64_t copies(const Block& block) const;

 private:
  struct Node;  // a block
  // Of each step of a location, the numbers it may have.
  using Units = std::vector<std::vector<Interval>>;
  // The names of a location's steps: pairs are compared by the number of their memory.
  using Steps = std::vector<std::string_view>;

  void scan(const Block& block, const Node* parent, size_t position,
            const std::map<std::string, Interval>& around);

  std::vector<LiveAllocation> all_;
  std::map<Steps, size_t> memories_;  // numbered as they are met
  std::vector<size_t> memory_;        // by allocation
  std::vector<Units> units_;          // by allocation
  std::vector<const Node*> nodes_;    // by allocation: its owner's
  // By allocation, the statements of its owner that use it.
  std::vector<std::vector<size_t>> users_;
  std::map<const Block*, std::unique_ptr<Node>> blocks_;
  size_t statements_ = 0;
  bool in_order_ = true;  // no block is #deps
};

}  // namespace stria::stripe
