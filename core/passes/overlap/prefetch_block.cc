// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/prefetch_block.h"

#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/passes/overlap/row_fetches.h"
#include "stria/rewrite/large_views.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

// The indices of the block that run through several points, the fastest first.
std::vector<const Index*> loops(const Block& block) {
  std::vector<const Index*> out;
  for (size_t i = block.idxs.size(); i-- > 0;)
    if (!block.idxs[i].affine && block.idxs[i].range > 1) out.push_back(&block.idxs[i]);
  return out;
}

// Where the next point of a block is: `step` is its fastest index, and from that one's last value
// `around`, of the block or of `parent` around it, goes on. Either may be null.
struct NextPoint {
  const Block* block = nullptr;
  const Block* parent = nullptr;
  const Index* step = nullptr;
  const Index* around = nullptr;
};

NextPoint next_point(const Block& block, const Block* parent) {
  NextPoint out{&block, nullptr, nullptr, nullptr};
  const std::vector<const Index*> own = loops(block);
  if (own.empty()) return out;
  out.step = own[0];
  if (own.size() > 1) {
    out.around = own[1];
  } else if (parent && !parent->tags.has("parallel")) {
    // Points of a parallel block are other cores'.
    const std::vector<const Index*> outer = loops(*parent);
    if (!outer.empty()) {
      out.parent = parent;
      out.around = outer[0];
    }
  }
  return out;
}

// How much further in dimension `d` the next point finds what the block's `view` shows: inside a
// row of points, or from its last one to the first of the next row.
Affine further(const NextPoint& next, const Refinement& view, size_t d, bool from_last) {
  const int64_t step = view.access[d].coefficient(next.step->name);
  if (!from_last) return Affine(step);
  const Refinement& outer = next.parent ? *next.parent->find_ref(view.from) : view;
  return Affine(outer.access[d].coefficient(next.around->name) - (next.step->range - 1) * step);
}

// The inputs of `loop`, a statement of the block, at the block's next point, as new views of the
// loop.
std::vector<Refinement> next_inputs(const NextPoint& next, Block& loop,
                                    const std::set<std::string>& large, bool from_last) {
  std::vector<Refinement> out;
  for (size_t r = 0, own = loop.refs.size(); r < own; ++r) {
    const Refinement ref = loop.refs[r];
    if (ref.dir != RefDir::in || !can_be_fetched(ref) || !large.count(ref.from)) continue;
    // What the block around the loop sees at one of its points.
    const Refinement& here = *next.block->find_ref(ref.from);
    if (here.flat_access().coefficient(next.step->name) == 0 ||
        static_cast<double>(row_count(here)) > turn_count(loop))
      continue;
    Refinement view = here;
    view.dir = RefDir::in;
    view.tags = {};
    view.from = here.into;
    view.into = loop.fresh_name(ref.into + (from_last ? "_next_row" : "_next"));
    for (size_t d = 0; d < view.access.size(); ++d)
      view.access[d] = further(next, here, d, from_last);
    out.push_back(std::move(view));
  }
  return out;
}

// Has the loop fetch what it reads at the next point of the block around it.
int64_t fetch_next(const NextPoint& next, Block& loop, const std::set<std::string>& large) {
  if (!next.step || !can_hold_fetches(loop)) return 0;
  const std::vector<Refinement> in_row = next_inputs(next, loop, large, false);
  if (in_row.empty()) return 0;
  if (!next.around) {
    for (const Refinement& view : in_row) loop.refs.push_back(view);
    fetch_rows(loop, in_row);
    return static_cast<int64_t>(in_row.size());
  }
  const std::vector<Refinement> to_next_row = next_inputs(next, loop, large, true);
  const Affine left = Affine(next.step->range - 1) - Affine::of(bring_in(loop, next.step->name));
  for (const auto* views : {&to_next_row, &in_row})
    for (const Refinement& view : *views) loop.refs.push_back(view);
  fetch_rows(loop, to_next_row, {-left});
  fetch_rows(loop, in_row, {left - Affine(1)});
  return static_cast<int64_t>(in_row.size());
}

int64_t mark(Block& block, const Block* parent, const std::set<std::string>& large,
             const std::string& tag) {
  int64_t marked = 0;
  const NextPoint next = next_point(block, parent);
  for (stripe::Statement& stmt : block.stmts) {
    Block* inner = stmt.block();
    if (!inner) continue;
    marked += inner->tags.has(tag) ? fetch_next(next, *inner, large)
                                   : mark(*inner, &block, seen_inside(*inner, large), tag);
  }
  return marked;
}

}  // namespace

void describe(PrefetchBlockOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.tag("loop", options.loop, "tag of the loop over a block's tiles");
  fields.unit("memory", options.memory, "memory unit of the model");
  fields.add("percent", options.percent,
             "of one instance of it: what is read of a smaller tensor stays near", {0, 1 << 20});
}

Status prefetch_block(stripe::Program& program, const PrefetchBlockOptions& options,
                      PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const double least = bytes_of(context.model(), options.memory, options.percent);
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    context.matched();
    const int64_t marked = mark(kernel, nullptr, large_views(kernel, least), options.loop);
    if (marked == 0) {
      context.skipped(kernel.name, "no tiles of a large tensor's blocks");
    } else {
      context.count("views_fetched", marked);
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
