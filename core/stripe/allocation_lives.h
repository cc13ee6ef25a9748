// SPDX-License-Identifier: Apache-2.0
// Liveness: which allocations of a program may be alive at the same time, and in one memory. The
// verifier checks #placed programs with it, and the pass memory_placement places allocations by it.
// An allocation is alive from its first to its last user: by position, or in a #deps block by the
// paths of its dependencies. The entry's allocations, the program's tensors, are always alive. If
// no dependency orders two statements, what they allocate inside may be alive together. Inside a
// pipelined block with N points under way, an allocation has N places in a row; one point may still
// use what another has finished with, so everything there counts as alive together.
//
// Lanes of a group do not wait for each other (S11). Of what they share, two allocations are alive
// together unless a barrier stands between the users of the one and those of the other. Only
// barriers beside the users count. In a loop, another one must part one pass from the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria::stripe {

// Does the block's tag say that an allocation inside it has its bytes? `#placed` says so of all
// allocations, `#placed="LOCAL"` of those in that memory unit.
bool places(const Block& block, const Refinement& allocation);
// Does the block, or one inside it, have the tag?
bool holds_placed(const Block& block);
// The innermost block around an allocation of `place` whose tag says so; null: none.
const Block* placing_block(const Place& place, const Refinement& allocation);

// How many copies there are of what the block allocates: one for each point under way (S13), or one
// alone if lanes hold what is fetched for the next point (#one_copy).
int64_t pipeline_copies(const Block& block);

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
  struct Node;                        // a block
  using Users = std::vector<size_t>;  // statements of a block
  // The numbers that each step of a location may have.
  using Units = std::vector<std::vector<Interval>>;
  // The names of a location's steps. Each different list has a number, by which pairs are compared.
  using Steps = std::vector<std::string_view>;

  void scan(const Block& block, const Node* parent, size_t position,
            const std::map<std::string, Interval>& around);
  bool by_lanes(size_t a) const;
  static bool parted(const Node& around, const Users& a, const Users& b);

  std::vector<LiveAllocation> all_;
  std::map<Steps, size_t> memories_;  // numbered as they are met
  std::vector<size_t> memory_;        // by allocation
  std::vector<Units> units_;          // by allocation
  std::vector<const Node*> nodes_;    // by allocation: its owner's
  // By allocation, the statements of its owner that use it.
  std::vector<Users> users_;
  std::map<const Block*, std::unique_ptr<Node>> blocks_;
  size_t statements_ = 0;
  bool in_order_ = true;  // no block is #deps
};

}  // namespace stria::stripe
