// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/prefetch_block.h"

#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/passes/large_views.h"
#include "stria/passes/located_unit.h"
#include "stria/passes/row_fetches.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

// The index of the block that runs fastest.
const Index* innermost(const Block& block) {
  for (size_t i = block.idxs.size(); i-- > 0;)
    if (!block.idxs[i].affine && block.idxs[i].range > 1) return &block.idxs[i];
  return nullptr;
}

// The inputs of `loop`, a statement of `block`, one step of the block's innermost index further on,
// as new views of the loop.
std::vector<Refinement> next_inputs(const Block& block, Block& loop,
                                    const std::set<std::string>& large) {
  std::vector<Refinement> out;
  const Index* step = innermost(block);
  for (size_t r = 0; step && r < loop.refs.size(); ++r) {
    const Refinement& ref = loop.refs[r];
    if (ref.dir != RefDir::in || !can_be_fetched(ref) || !large.count(ref.from)) continue;
    // What the block around the loop sees at one of its points.
    const Refinement& around = *block.find_ref(ref.from);
    if (around.flat_access().coefficient(step->name) == 0 ||
        static_cast<double>(row_count(around)) > turn_count(loop))
      continue;
    Refinement next = around;
    next.dir = RefDir::in;
    next.tags = {};
    next.from = around.into;
    next.into = loop.fresh_name(ref.into + "_next");
    for (Affine& access : next.access) access = Affine(access.coefficient(step->name));
    out.push_back(std::move(next));
  }
  for (const Refinement& next : out) loop.refs.push_back(next);
  return out;
}

int64_t mark(Block& block, const std::set<std::string>& large, const std::string& tag) {
  int64_t marked = 0;
  for (stripe::Statement& stmt : block.stmts) {
    Block* inner = stmt.block();
    if (!inner) continue;
    if (!inner->tags.has(tag)) {
      marked += mark(*inner, seen_inside(*inner, large), tag);
      continue;
    }
    const std::vector<Refinement> next = next_inputs(block, *inner, large);
    if (!next.empty()) fetch_rows(*inner, next);
    marked += static_cast<int64_t>(next.size());
  }
  return marked;
}

}  // namespace

void describe(PrefetchBlockOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a kernel must have");
  fields.add("loop", options.loop, "tag of the loop over a block's tiles");
  fields.add("memory", options.memory, "memory unit of the model");
  fields.add("percent", options.percent,
             "of one instance of it: what is read of a smaller tensor stays near", {0, 1 << 20});
}

Status prefetch_block(stripe::Program& program, const PrefetchBlockOptions& options,
                      PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const double least = bytes_of(context.model(), options.memory, options.percent);
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    context.matched();
    const int64_t marked = mark(kernel, large_views(kernel, least), options.loop);
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
