// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/prefetch_next.h"

#include <algorithm>
#include <cstdlib>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/large_views.h"
#include "stria/rewrite/located_unit.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The index of the block that runs fastest.
const Index* innermost(const Block& block) {
  for (size_t i = block.idxs.size(); i-- > 0;)
    if (!block.idxs[i].affine && block.idxs[i].range > 1) return &block.idxs[i];
  return nullptr;
}

// The last statement of the block's points, where it is a loop over several blocks.
Block* last_loop(Block& block) {
  Block* last = block.stmts.empty() ? nullptr : block.stmts.back().block();
  return last && innermost(*last) && last->stmts.size() > 1 ? last : nullptr;
}

class KernelMarker {
 public:
  explicit KernelMarker(const PrefetchNextOptions& options) : options_(options) {}

  // The views of the block, whose tensor is large, and of what it holds.
  int64_t run(Block& kernel, const std::string& name) {
    Block* host = &kernel;  // the last block of the chain that has an index
    std::string in_host = name, in_block = name;
    Block* block = &kernel;
    if (!innermost(*block)) host = nullptr;
    while (block->stmts.size() == 1 && block->stmts[0].block()) {
      block = block->stmts[0].block();
      const Refinement* view = view_of(*block, in_block);
      if (!view) return 0;
      in_block = view->into;
      if (!innermost(*block)) continue;
      host = block;
      in_host = in_block;
    }
    if (!host || block->stmts.size() < 2) return 0;
    // What stands before a loop inside may only prepare it.
    if (Block* loop = last_loop(*block))
      if (const Refinement* view = view_of(*loop, in_block))
        if (const int64_t marked = run(*loop, view->into)) return marked;
    const Refinement& view = *host->find_ref(in_host);
    const int64_t step = view.flat_access().coefficient(innermost(*host)->name);
    const bool near = std::abs(step) < ceil_div(options_.min_bytes, byte_size(view.shape.type));
    return step == 0 || near ? 0 : mark(*block, in_block, step);
  }

 private:
  static Refinement* view_of(Block& block, const std::string& name) {
    for (Refinement& ref : block.refs)
      if (can_be_fetched(ref) && ref.from == name) return &ref;
    return nullptr;
  }

  bool is_excluded(const Block& block) const {
    return std::any_of(options_.exclude.begin(), options_.exclude.end(),
                       [&](const std::string& tag) { return block.tags.has(tag); });
  }

  // The last statement that uses the block's refinement.
  int64_t mark(Block& block, const std::string& name, int64_t step) const {
    for (size_t i = block.stmts.size(); i-- > 0;) {
      Block* inner = block.stmts[i].block();
      Refinement* view = inner ? view_of(*inner, name) : nullptr;
      if (!view) continue;
      if (is_excluded(*inner)) return 0;
      if (!is_leaf(*inner)) return mark(*inner, view->into, step);
      const Index* lane = innermost(*inner);
      if (!inner->tags.has("vector") || view->tags.has("stream") || !lane ||
          view->flat_access().coefficient(lane->name) != 1)
        return 0;
      view->tags.set("prefetch", step);
      return 1;
    }
    return 0;
  }

  const PrefetchNextOptions& options_;
};

}  // namespace

void describe(PrefetchNextOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.tags("exclude", options.exclude, "tags of blocks inside that are left alone");
  fields.add("min_bytes", options.min_bytes,
             "from one point to the next; what is nearer comes without being asked", {0});
  fields.unit("memory", options.memory, "memory unit of the model");
  fields.add("percent", options.percent,
             "of one instance of it: what is read of a smaller tensor stays near", {0, 1 << 20});
}

Status prefetch_next(stripe::Program& program, const PrefetchNextOptions& options,
                     PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const double least = bytes_of(context.model(), options.memory, options.percent);
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    context.matched();
    int64_t marked = 0;
    for (const std::string& name : large_views(kernel, least))
      marked += KernelMarker(options).run(kernel, name);
    if (marked == 0) {
      context.skipped(kernel.name, "no part of a large tensor comes next");
    } else {
      context.count("views_marked", marked);
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
