// SPDX-License-Identifier: Apache-2.0
// Which statements of a block must keep their order: those of which one touches an element that the
// other writes at the same point of the block, or defines a scalar that the other uses. Two stores
// into one running aggregation need not: its values come in any order. Intervals decide first, then
// integer sets decide what intervals leave open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/block_points.h"
#include "stria/stripe/walk.h"

namespace stria::stripe {

class StatementConflicts {
 public:
  // `place`: the block, with the blocks around it. They are borrowed, and must not change while
  // this lives.
  explicit StatementConflicts(const Place& place);
  ~StatementConflicts();

  // The statements before `b` that may conflict with it, the last one first: both touch an
  // allocation that one of them writes; or the earlier one defines what `b` uses; or one of them is
  // a barrier.
  std::vector<size_t> candidates(size_t b) const;

  // Must `b` wait for `a`, a statement before it? True if that is undecided. Otherwise exact: at
  // some point of the block the two touch one element.
  bool must_wait(size_t b, size_t a);

  // How many questions ran out of their budget, or had numbers too large to compute with.
  int64_t undecided() const { return undecided_; }

 private:
  struct View;
  struct Access;
  enum class Answer { apart, meet, unknown };

  using Views = std::map<std::string, View>;
  const BlockPoints* open(const Block& block, const BlockPoints* outer);
  View view_of(const Refinement& ref, const BlockPoints& level, const Views& outer,
               int depth) const;
  void collect(const Block& block, const Statement& stmt, const BlockPoints& level,
               const Views& views, int depth, std::vector<Access>& out);
  void touch(const Block& block, const std::string& name, const BlockPoints& level,
             const Views& views, bool writes, std::vector<Access>& out) const;
  void scalars(const Block& block);
  Answer meet(const Access& a, const Access& b) const;
  static bool combine(const Access& a, const Access& b, int depth);

  int depth_ = 0;  // of the block
  int64_t undecided_ = 0;
  std::vector<std::unique_ptr<BlockPoints>> points_;  // of every block seen
  const BlockPoints* shared_ = nullptr;               // of the block
  std::vector<std::vector<Access>> accesses_;         // by statement
  std::vector<std::vector<size_t>> defined_by_;       // statement -> those that define what it uses
  std::vector<bool> fence_;                           // statement -> it is or holds a barrier
  std::vector<size_t> fences_;                        // these
  // Allocation -> statements that touch it, in order; the same of those that write it.
  std::map<const Refinement*, std::vector<size_t>> touched_, written_;
};

}  // namespace stria::stripe
