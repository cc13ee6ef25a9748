// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/statement_dependencies.h"

#include <algorithm>
#include <functional>

#include "stria/poly/solver_budget.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

namespace {

// Limit of the solver's work for one block, in steps of about 2 ns. What is undecided then waits.
constexpr int64_t kMendSteps = 1'000'000'000;

// For each statement of a block, the statements for which it waits, directly or through others.
class Waits {
 public:
  explicit Waits(size_t count)
      : words_((count + 63) / 64), bits_(count, std::vector<uint64_t>(words_)) {}

  bool has(size_t b, size_t a) const { return bits_[b][a / 64] >> (a % 64) & 1; }
  // All statements for which `a` waits must have been added before.
  void add(size_t b, size_t a) {
    for (size_t w = 0; w < words_; ++w) bits_[b][w] |= bits_[a][w];
    bits_[b][a / 64] |= uint64_t{1} << (a % 64);
  }

 private:
  size_t words_;
  std::vector<std::vector<uint64_t>> bits_;
};

// Adds to the dependencies of statement `b` those candidates for which it must wait and does not
// yet. Candidates are tried from the last to the first, so that none of the added ones follows from
// others.
//   certain  statements, ascending, for which `b` is known to wait
void add_dependencies(size_t b, const std::vector<size_t>& candidates,
                      const std::vector<size_t>& certain, stripe::StatementConflicts& conflicts,
                      Waits& waits, std::vector<int64_t>& deps) {
  for (size_t a : candidates) {
    if (waits.has(b, a)) continue;
    if (!std::binary_search(certain.begin(), certain.end(), a) && !conflicts.must_wait(b, a))
      continue;
    const auto at = static_cast<int64_t>(a);
    deps.insert(std::upper_bound(deps.begin(), deps.end(), at), at);
    waits.add(b, a);
  }
}

void mend(stripe::Block& block, stripe::StatementConflicts& conflicts) {
  Waits waits(block.stmts.size());
  for (size_t b = 0; b < block.stmts.size(); ++b) {
    std::vector<int64_t>& deps = block.stmts[b].deps;
    // A dependency that points forward is left over from a statement that has moved.
    std::erase_if(deps, [&](int64_t a) { return a < 0 || a >= static_cast<int64_t>(b); });
    for (int64_t a : deps) waits.add(b, static_cast<size_t>(a));
    add_dependencies(b, conflicts.candidates(b), {}, conflicts, waits, deps);
  }
}

}  // namespace

Dependencies dependencies_of(const stripe::Block& block, stripe::StatementConflicts& conflicts,
                             const std::vector<std::vector<size_t>>& also) {
  const size_t count = block.stmts.size();
  Waits waits(count);
  Dependencies found(count);
  for (size_t b = 0; b < count; ++b) {
    std::vector<size_t> candidates = conflicts.candidates(b), certain;
    if (!also.empty() && !also[b].empty()) {
      certain = also[b];
      std::sort(certain.begin(), certain.end());
      candidates.insert(candidates.end(), certain.begin(), certain.end());
      std::sort(candidates.begin(), candidates.end(), std::greater<>());
      candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    }
    add_dependencies(b, candidates, certain, conflicts, waits, found[b]);
  }
  return found;
}

void mend_dependencies(stripe::Program& program) {
  stripe::visit_blocks(program.entry, [](stripe::Block& block, const stripe::Place& place) {
    if (!block.tags.has(stripe::tag::kDeps)) return;
    const SolverBudget budget(kMendSteps);
    stripe::StatementConflicts conflicts(place);
    mend(block, conflicts);
  });
}

}  // namespace stria::passes
