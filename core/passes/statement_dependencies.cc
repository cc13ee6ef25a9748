// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/statement_dependencies.h"

#include <algorithm>
#include <functional>

#include "stria/stripe/walk.h"

namespace stria::passes {

// Candidates are asked from the last to the first, and only those that no dependency found so far
// already waits for: so what is found is the transitive reduction.
Dependencies dependencies_of(const stripe::Block& block, stripe::StatementConflicts& conflicts,
                             const std::vector<std::vector<size_t>>& also) {
  const size_t count = block.stmts.size();
  const size_t words = (count + 63) / 64;
  std::vector<std::vector<uint64_t>> waits_for(count, std::vector<uint64_t>(words));
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
    for (size_t a : candidates) {
      if (waits_for[b][a / 64] >> (a % 64) & 1) continue;
      if (!std::binary_search(certain.begin(), certain.end(), a) && !conflicts.must_wait(b, a))
        continue;
      found[b].insert(found[b].begin(), static_cast<int64_t>(a));
      for (size_t w = 0; w < words; ++w) waits_for[b][w] |= waits_for[a][w];
      waits_for[b][a / 64] |= uint64_t{1} << (a % 64);
    }
  }
  return found;
}

namespace {

void mend(stripe::Block& block, stripe::StatementConflicts& conflicts) {
  const size_t words = (block.stmts.size() + 63) / 64;
  std::vector<std::vector<uint64_t>> waits_for(block.stmts.size(), std::vector<uint64_t>(words));
  for (size_t b = 0; b < block.stmts.size(); ++b) {
    std::vector<int64_t>& deps = block.stmts[b].deps;
    auto wait = [&](size_t a) {
      for (size_t w = 0; w < words; ++w) waits_for[b][w] |= waits_for[a][w];
      waits_for[b][a / 64] |= uint64_t{1} << (a % 64);
    };
    // One that points forward is of a statement that stood elsewhere.
    std::erase_if(deps, [&](int64_t a) { return a < 0 || a >= static_cast<int64_t>(b); });
    for (int64_t a : deps) wait(static_cast<size_t>(a));
    for (size_t a : conflicts.candidates(b)) {
      if (waits_for[b][a / 64] >> (a % 64) & 1 || !conflicts.must_wait(b, a)) continue;
      deps.insert(std::upper_bound(deps.begin(), deps.end(), static_cast<int64_t>(a)),
                  static_cast<int64_t>(a));
      wait(a);
    }
  }
}

}  // namespace

void mend_dependencies(stripe::Program& program) {
  stripe::visit_blocks(program.entry, [](stripe::Block& block, const stripe::Place& place) {
    if (!block.tags.has("deps")) return;
    stripe::StatementConflicts conflicts(place);
    mend(block, conflicts);
  });
}

}  // namespace stria::passes
