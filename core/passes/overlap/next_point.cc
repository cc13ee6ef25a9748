// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/next_point.h"

#include <vector>

#include "stria/rewrite/index_role.h"
#include "stria/rewrite/large_views.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

// The index of the block that runs fastest.
const Index* fastest(const Block& block) {
  const std::vector<const Index*> indices = loop_indices(block);
  return indices.empty() ? nullptr : indices[0];
}

// The last statement of the block, if it is a loop over several blocks; else null.
Block* last_loop(Block& block) {
  Block* last = block.stmts.empty() ? nullptr : block.stmts.back().block();
  return last && fastest(*last) && last->stmts.size() > 1 ? last : nullptr;
}

class NextPointMarker {
 public:
  explicit NextPointMarker(const FetchRequest& request) : request_(request) {}

  // Marks a use of the tensor that the block calls `name`.
  int64_t run(Block& outermost, const std::string& name) const {
    // The loop whose next point is prefetched: the last block of the chain with an index of its
    // own.
    Block* loop = fastest(outermost) ? &outermost : nullptr;
    Block* block = &outermost;
    std::string in_loop = name, in_block = name;
    while (block->stmts.size() == 1 && block->stmts[0].block()) {
      block = block->stmts[0].block();
      const Refinement* view = view_of(*block, in_block);
      if (!view || request_.excludes(*block)) return 0;
      in_block = view->into;
      if (!fastest(*block)) continue;
      loop = block;
      in_loop = in_block;
    }
    if (!loop || block->stmts.size() < 2) return 0;
    // If the last statement is itself a loop over several blocks, its next point comes first: the
    // statements before it may only prepare it.
    if (Block* inner = last_loop(*block); inner && !request_.excludes(*inner))
      if (const Refinement* view = view_of(*inner, in_block))
        if (const int64_t marked = run(*inner, view->into)) return marked;
    const int64_t step = request_.step(*loop->find_ref(in_loop), *fastest(*loop));
    return step == 0 ? 0 : mark_last_use(*block, in_block, step);
  }

 private:
  static Refinement* view_of(Block& block, const std::string& name) {
    for (Refinement& ref : block.refs)
      if (can_be_fetched(ref) && ref.from == name) return &ref;
    return nullptr;
  }

  // Marks the view in the last statement that uses the tensor.
  int64_t mark_last_use(Block& block, const std::string& name, int64_t step) const {
    for (size_t s = block.stmts.size(); s-- > 0;) {
      Block* inner = block.stmts[s].block();
      Refinement* view = inner ? view_of(*inner, name) : nullptr;
      if (!view) continue;
      if (request_.excludes(*inner)) return 0;
      if (!is_leaf(*inner)) return mark_last_use(*inner, view->into, step);
      const Index* lane = fastest(*inner);
      if (!inner->tags.has(stripe::tag::kVector) || !lane || is_streamed(*inner, name) ||
          view->flat_access().coefficient(lane->name) != 1)
        return 0;
      view->tags.set(stripe::tag::kPrefetch, step);
      return 1;
    }
    return 0;
  }

  const FetchRequest& request_;
};

}  // namespace

int64_t mark_next_point(Block& kernel, const std::set<std::string>& large,
                        const FetchRequest& request) {
  int64_t marked = 0;
  for (const std::string& name : large) marked += NextPointMarker(request).run(kernel, name);
  return marked;
}

}  // namespace stria::passes
