// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/next_block.h"

#include <utility>
#include <vector>

#include "stria/passes/overlap/row_fetches.h"
#include "stria/rewrite/large_views.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

// How to get to the next point of a block. `step` is its fastest index. After the last value of
// `step`, the index `around` of the block, or of `parent` around it, advances. Either may be null.
struct BlockStep {
  const Block* block = nullptr;
  const Block* parent = nullptr;
  const Index* step = nullptr;
  const Index* around = nullptr;
};

BlockStep next_step(const Block& block, const Block* parent) {
  BlockStep out{&block, nullptr, nullptr, nullptr};
  const std::vector<const Index*> own = loop_indices(block);
  if (own.empty()) return out;
  out.step = own[0];
  if (own.size() > 1) {
    out.around = own[1];
  } else if (parent && !parent->tags.has(stripe::tag::kParallel)) {
    // Other points of a parallel block run on other cores.
    const std::vector<const Index*> outer = loop_indices(*parent);
    if (!outer.empty()) {
      out.parent = parent;
      out.around = outer[0];
    }
  }
  return out;
}

// By how much the block's view moves along dimension `d` at the next point: inside a row of points,
// or with `from_last` from the last point of a row to the first of the next row.
Affine distance_to(const BlockStep& next, const Refinement& view, size_t d, bool from_last) {
  const int64_t step = view.access[d].coefficient(next.step->name);
  if (!from_last) return Affine(step);
  const Refinement& outer = next.parent ? *next.parent->find_ref(view.from) : view;
  return Affine(outer.access[d].coefficient(next.around->name) - (next.step->range - 1) * step);
}

class NextBlockFetcher {
 public:
  explicit NextBlockFetcher(const FetchRequest& request) : request_(request) {}

  // `large`: the block's names for large tensors.
  int64_t run(Block& block, const Block* parent, const std::set<std::string>& large) const {
    int64_t asked = 0;
    const BlockStep next = next_step(block, parent);
    for (stripe::Statement& stmt : block.stmts) {
      Block* inner = stmt.block();
      if (!inner || request_.excludes(*inner)) continue;
      asked += inner->tags.has(request_.loop) ? fetch(next, *inner, large)
                                              : run(*inner, &block, seen_inside(*inner, large));
    }
    return asked;
  }

 private:
  // Makes the loop prefetch what it reads at the next point of the block around it.
  int64_t fetch(const BlockStep& next, Block& loop, const std::set<std::string>& large) const {
    if (!next.step || !can_hold_fetches(loop)) return 0;
    const std::vector<Refinement> in_row = inputs(next, loop, large, false);
    if (in_row.empty()) return 0;
    if (!next.around) {
      for (const Refinement& view : in_row) loop.refs.push_back(view);
      fetch_rows(loop, in_row);
      return static_cast<int64_t>(in_row.size());
    }
    const std::vector<Refinement> to_next_row = inputs(next, loop, large, true);
    const Affine left = Affine(next.step->range - 1) - Affine::of(bring_in(loop, next.step->name));
    for (const auto* views : {&to_next_row, &in_row})
      for (const Refinement& view : *views) loop.refs.push_back(view);
    fetch_rows(loop, to_next_row, {-left});
    fetch_rows(loop, in_row, {left - Affine(1)});
    return static_cast<int64_t>(in_row.size());
  }

  // New views of the loop: what it reads at the next point of the block around it.
  std::vector<Refinement> inputs(const BlockStep& next, Block& loop,
                                 const std::set<std::string>& large, bool from_last) const {
    std::vector<Refinement> out;
    for (size_t r = 0, own = loop.refs.size(); r < own; ++r) {
      const Refinement ref = loop.refs[r];
      if (ref.dir != RefDir::in || !can_be_fetched(ref) || !large.count(ref.from)) continue;
      // The view that the block around the loop has at this point.
      const Refinement& here = *next.block->find_ref(ref.from);
      if (request_.step(here, *next.step) == 0 ||
          static_cast<double>(row_count(here)) > turn_count(loop))
        continue;
      Refinement view = here;
      view.dir = RefDir::in;
      view.tags = {};
      view.from = here.into;
      view.into = loop.fresh_name(ref.into + (from_last ? "_next_row" : "_next"));
      for (size_t d = 0; d < view.access.size(); ++d)
        view.access[d] = distance_to(next, here, d, from_last);
      out.push_back(std::move(view));
    }
    return out;
  }

  const FetchRequest& request_;
};

}  // namespace

int64_t fetch_next_block(Block& kernel, const std::set<std::string>& large,
                         const FetchRequest& request) {
  return NextBlockFetcher(request).run(kernel, nullptr, large);
}

}  // namespace stria::passes
