// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/stream_stores.h"

#include <algorithm>

#include "stria/pass/select_blocks.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_multiple(const Affine& form, int64_t of, const std::string& but = "") {
  return form.constant() % of == 0 &&
         std::all_of(form.terms().begin(), form.terms().end(), [&](const Affine::Term& term) {
           return term.first == but || term.second % of == 0;
         });
}

// Does a #vector block store all of its lanes contiguously, in whole lines?
bool fills_lines(const Block& block, const Refinement& ref, int64_t line) {
  const stripe::Index* lane = nullptr;
  for (const stripe::Index& index : block.idxs)
    if (!index.affine) lane = lane ? nullptr : &index;
  if (!block.tags.has(stripe::tag::kVector) || !lane || lane->range % line != 0 ||
      !block.constraints.empty())
    return false;
  const bool stores =
      std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
        const auto* store = std::get_if<stripe::Store>(&stmt.op);
        return store && store->into == ref.into && store->at.empty();
      });
  const Affine form = ref.flat_access();
  return stores && form.coefficient(lane->name) == 1 && is_multiple(form, line, lane->name);
}

// Marks the views of `name`, a refinement of the block around, in the block and in those inside.
// All views around begin at multiples of `line` elements.
int64_t mark(Block& block, const std::string& name, int64_t line) {
  int64_t marked = 0;
  for (Refinement& ref : block.refs) {
    if (ref.dir != RefDir::out || ref.from != name || ref.agg || ref.swizzle) continue;
    if (fills_lines(block, ref, line)) {
      ref.tags.set(stripe::tag::kStream);
      ++marked;
    } else if (is_multiple(ref.flat_access(), line)) {
      for (Statement& stmt : block.stmts)
        if (Block* inner = stmt.block()) marked += mark(*inner, ref.into, line);
    }
  }
  return marked;
}

double largest_cache_bytes(const HardwareModel& model) {
  double bytes = 0;
  for (const MemoryUnit& memory : model.memories)
    if (memory.policy == MemoryPolicy::lru)
      bytes = std::max(bytes, static_cast<double>(memory.size_bytes));
  return bytes;
}

}  // namespace

void describe(StreamStoresOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("percent", options.percent,
             "size of a tensor, at least, in percent of the model's largest cache", {0, 1 << 20});
  fields.add("min_bytes", options.min_bytes, "bytes of a tensor, at least; 0 = percent decides",
             {0});
  fields.add("line_bytes", options.line_bytes,
             "bytes of a line, which a store fills; 0 = of the model's nearest cache",
             {0, 1 << 20});
}

Status stream_stores(stripe::Program& program, const StreamStoresOptions& options,
                     PassContext& context) {
  const int64_t line_bytes =
      options.line_bytes > 0 ? options.line_bytes : context.model().cache_line_bytes();
  const double cache = largest_cache_bytes(context.model());
  if (cache <= 0 && options.min_bytes == 0) {
    context.note("the model has no caches");
    return {};
  }
  const double least = options.min_bytes > 0 ? static_cast<double>(options.min_bytes)
                                             : cache * static_cast<double>(options.percent) / 100;
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    int64_t marked = 0;
    for (const Refinement& ref : kernel.refs) {
      const auto views =
          std::count_if(kernel.refs.begin(), kernel.refs.end(), [&](const Refinement& other) {
            return other.dir != RefDir::none && around.of(other.from) == around.of(ref.from);
          });
      if (ref.dir != RefDir::out || views != 1 || stripe::is_loaded(kernel, ref)) continue;
      const int64_t line = line_bytes / byte_size(ref.shape.type);
      double bytes = static_cast<double>(byte_size(ref.shape.type));
      const std::vector<Interval> all = stripe::reach(kernel, ref, kernel.index_box());
      for (const Interval& range : all)
        bytes *= static_cast<double>(range.upper) - static_cast<double>(range.lower) + 1;
      if (line < 1 || bytes < least) continue;
      marked += mark(kernel, ref.from, line);
    }
    if (marked == 0) {
      context.skipped(kernel.name, "no large result is stored in whole lines");
    } else {
      context.count("views_marked", marked);
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
