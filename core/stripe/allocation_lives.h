// SPDX-License-Identifier: Apache-2.0
// Liveness: which allocations of a program may be alive at the same time, and in one memory. The
// verifier checks #placed programs with it, and the pass memory_placement places allocations by it.
// An allocation is alive from its first to its last user: by position, or in a #deps block by the
// paths of its dependencies. The entry's allocations, the program's tensors, are always alive. If
// no dependency orders two statements, what they allocate inside may be alive together. Inside a
// pipelined block with N points under way, an allocation has N places in a row; one point may still
// use what another has finished with, so everything there counts as alive together.
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
  // The statements of the whole program are counted as they stand. If they run in this order, the
  // allocation may be alive from `first` to `last`.
  size_t first = 0, last = 0;
};

class AllocationLives {
 public:
  // Borrows `entry`, which must not change while this lives. It is that of a legal program, but for
  // its arenas.
  explicit AllocationLives(const Block& entry);
  ~AllocationLives();

  // In program order: the allocations of a block come before those inside it.
  const std::vector<LiveAllocation>& all() const { return all_; }
  bool alive_together(size_t a, size_t b) const;
  // A step of a location without numbers may be any instance of the unit.
  bool may_be_one_memory(size_t a, size_t b) const;
  // Points of this block, and of the pipelined ones around it, that may be under way together; 0:
  // 2^63 or more.
  int64_t copies(const Block& block) const;

 private:
  struct Node;  // a block
  // The numbers that each step of a location may have.
  using Units = std::vector<std::vector<Interval>>;
  // The names of a location's steps. Each different list has a number, by which pairs are compared.
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
