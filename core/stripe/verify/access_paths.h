// SPDX-License-Identifier: Apache-2.0
// Where loads and stores go, over everything that varies. The verifier's rules about points, lanes
// and poison share this. For the verifier only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stria/poly/integer_set.h"
#include "stria/stripe/block_points.h"
#include "stria/stripe/walk.h"

namespace stria::stripe {

using Ranges = std::map<std::string, Interval>;

// Larger numbers are not computed with: the query is undecided instead of overflowing.
inline constexpr int64_t kLargestNumber = int64_t{1} << 58;

// A block on the way down, with its points; variables are named by its depth ("x@2").
struct Level : BlockPoints {
  std::shared_ptr<const Level> around;
  const Block* block = nullptr;
  size_t position = 0;  // among the statements of the block around
  int depth = 0;
};
using LevelPtr = std::shared_ptr<const Level>;

// The level of `place`; the ranges of its variables are added to `box`.
LevelPtr make_level(const Place& place, LevelPtr around, Ranges& box);

// Where a refinement lies in its allocation, over all variables; nullopt: unknown.
struct View {
  const Refinement* allocation = nullptr;
  int depth = 0;  // of the block that allocates
  std::optional<std::vector<Affine>> start;
  // The bounds that accesses must stay inside: the allocation, or below #main and #prologue the
  // view that these have of it, for that is what a kernel gets as its argument.
  const Refinement* bounds = nullptr;
  std::optional<std::vector<Affine>> bounds_start;
  // The outermost refinement of the chain that aggregates, and the depth of its block.
  const Refinement* chain = nullptr;
  int chain_depth = 0;
  // What a load beyond the bounds gives: the innermost #clamp or #zero_fill on the way decides.
  enum class Beyond { refused, poison, zero };
  Beyond beyond = Beyond::refused;
};

// A view of the program's tensors, in #main or #prologue.
bool is_argument(const Refinement& ref, int depth);

View make_view(const Refinement& ref, const Level& level, const std::map<std::string, View>& outer);

// A load, a store or a special's use of a refinement, at every point.
struct Access {
  LevelPtr level;
  View view;
  const Refinement* ref = nullptr;  // that the statement names
  std::vector<int64_t> extent;      // elements from `start` per dimension
  bool writes = false;
};

// The accesses of the block's own statements, each refinement at most once as read and once as
// written. They touch the whole view: one element, or those that a scalar chooses from.
std::vector<Access> own_accesses(const LevelPtr& level, const std::map<std::string, View>& views);
// Adds those of a block and of all below it, `views` being those of the block around.
void collect_accesses(const Place& place, const LevelPtr& outer,
                      const std::map<std::string, View>& views, std::vector<Access>& all);

// The form with each name replaced; nullopt if a number gets too large. Every name must be known.
std::optional<Affine> compose(const Affine& form, const std::map<std::string, Affine>& values);

// "x" of "x@2".
std::string plain_name(const std::string& variable);
std::string plain_names(const std::vector<std::string>& variables);

// The variables of the indices that occur in the block's location: they run in parallel.
std::vector<std::string> located_variables(const Level& level);

// Do both store into one aggregation that takes the values of all points of a block at `depth`, so
// that their order is free?
bool run_in_one_aggregation(const Access& a, const Access& b, int depth);

// Two accesses to one allocation, each at a point of its own: where may they meet?
class AccessPair {
 public:
  // Both accesses have the same values for the variables of `shared` and of the levels around it
  // (null: there are none). Each has its own copy of the variables below.
  AccessPair(const Access& a, const Access& b, const Level* shared);
  // False if a number is too large to compute with; then nothing else may be asked.
  bool exact() const;
  // The forms in the variables of `meeting`.
  Affine of_a(const Affine& form) const { return copy(form, 'a'); }
  Affine of_b(const Affine& form) const { return copy(form, 'b'); }
  bool is_shared(const std::string& variable) const { return shared_.count(variable) > 0; }
  // All pairs of points at which both touch one element.
  IntegerSet meeting() const;

 private:
  Affine copy(const Affine& form, char mark) const;

  const Access& a_;
  const Access& b_;
  std::set<std::string> shared_;
};

// The innermost level that is around both.
const Level* common_level(const Level* a, const Level* b);

}  // namespace stria::stripe
