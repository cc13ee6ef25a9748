// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/epilogue_rows.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "stria/passes/overlap/row_fetches.h"
#include "stria/rewrite/large_views.h"
#include "stria/rewrite/split_block.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;
using stripe::Statement;

// The blocks from a statement down to a loop, both included.
using LoopPath = std::vector<Block*>;

// Does a block inside test outer values at each point of the loop? A tile at an edge does. There
// are few of them, and a cut loop would have to test twice.
bool tests_inside(const Block& loop) {
  return std::any_of(loop.stmts.begin(), loop.stmts.end(), [](const Statement& stmt) {
    const Block* inner = stmt.block();
    if (!inner) return false;
    const bool tests = std::any_of(inner->idxs.begin(), inner->idxs.end(), [&](const Index& index) {
      return index.affine && std::any_of(inner->constraints.begin(), inner->constraints.end(),
                                         [&](const Affine& form) { return form.uses(index.name); });
    });
    return tests || tests_inside(*inner);
  });
}

// Cuts the loop so that it has at least `rows` iterations, and not many more if possible. False if
// it is too short.
bool make_turns(Block& loop, int64_t rows) {
  if (runs_in_its_own_way(loop)) return false;
  const std::vector<const Index*> indices = loop_indices(loop);
  if (indices.empty() || turn_count(loop) < static_cast<double>(rows)) return false;
  const Index& fastest = *indices[0];
  const double others = turn_count(loop) / static_cast<double>(fastest.range);
  int64_t steps = fastest.range;
  while (steps > 1 &&
         (fastest.range % steps != 0 ||
          others * static_cast<double>(fastest.range / steps) < static_cast<double>(rows)))
    --steps;
  if (steps == 1) return true;
  std::map<std::string, int64_t> tile;
  for (const Index& index : loop.idxs)
    if (!index.affine) tile[index.name] = index.name == fastest.name ? steps : 1;
  split_block(loop, tile);
  return true;
}

// Adds the view to all blocks of the path, and returns the last block's.
Refinement brought_down(const LoopPath& path, Refinement view) {
  for (Affine& access : view.access) access = Affine();
  view.tags = {};
  for (Block* block : path) {
    view.from = view.into;
    view.into = block->fresh_name(view.from);
    block->refs.push_back(view);
  }
  return view;
}

class EpilogueFetcher {
 public:
  explicit EpilogueFetcher(const FetchRequest& request) : request_(request) {}

  // `large`: the block's names for large tensors.
  int64_t run(Block& block, const std::set<std::string>& large) const {
    int64_t asked = 0;
    // Only the last statement with a loop prefetches: what follows an earlier one is not an
    // epilogue.
    bool is_last = true;
    for (size_t s = block.stmts.size(); s-- > 0;) {
      Block* inner = block.stmts[s].block();
      if (!inner || request_.excludes(*inner)) continue;
      asked += run(*inner, seen_inside(*inner, large));
      LoopPath path, longest;
      find_loop(*inner, path, longest);
      if (longest.empty() || !std::exchange(is_last, false) || tests_inside(*longest.back()))
        continue;
      const std::vector<Refinement> views = used_after(block, s, large);
      if (!views.empty()) asked += fetch(longest, views);
    }
    return asked;
  }

 private:
  // Finds the loop with the most points in the block.
  void find_loop(Block& block, LoopPath& path, LoopPath& longest) const {
    path.push_back(&block);
    if (block.tags.has(request_.loop)) {
      if (longest.empty() || turn_count(block) > turn_count(*longest.back())) longest = path;
    } else {
      for (Statement& stmt : block.stmts)
        if (Block* inner = stmt.block(); inner && !request_.excludes(*inner))
          find_loop(*inner, path, longest);
    }
    path.pop_back();
  }

  // The block's views of large tensors that statements after `position` use.
  std::vector<Refinement> used_after(const Block& block, size_t position,
                                     const std::set<std::string>& large) const {
    std::set<std::string> used, streamed;
    for (size_t s = position + 1; s < block.stmts.size(); ++s) {
      const Block* user = block.stmts[s].block();
      if (!user || request_.excludes(*user)) continue;
      for (const Refinement& ref : user->refs) {
        if (!can_be_fetched(ref) || !large.count(ref.from)) continue;
        used.insert(ref.from);
        if (is_streamed(*user, ref.from)) streamed.insert(ref.from);
      }
    }
    std::vector<Refinement> out;
    for (const Refinement& ref : block.refs)
      if (used.count(ref.into) && !streamed.count(ref.into)) out.push_back(ref);
    return out;
  }

  static int64_t fetch(const LoopPath& path, const std::vector<Refinement>& views) {
    int64_t rows = 1;
    for (const Refinement& view : views) rows = std::max(rows, row_count(view));
    if (!can_hold_fetches(*path.back()) || !make_turns(*path.back(), rows)) return 0;
    std::vector<Refinement> seen;
    for (const Refinement& view : views) seen.push_back(brought_down(path, view));
    fetch_rows(*path.back(), seen);
    return static_cast<int64_t>(views.size());
  }

  const FetchRequest& request_;
};

}  // namespace

int64_t fetch_epilogue_rows(Block& kernel, const std::set<std::string>& large,
                            const FetchRequest& request) {
  return EpilogueFetcher(request).run(kernel, large);
}

}  // namespace stria::passes
