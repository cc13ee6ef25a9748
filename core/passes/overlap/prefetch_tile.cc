// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/prefetch_tile.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

// Blocks from one statement of a block down to the loop, both included; the longest loop there is.
using Path = std::vector<Block*>;

void find_loop(Block& block, const std::string& tag, Path& path, Path& best) {
  path.push_back(&block);
  if (block.tags.has(tag) && (best.empty() || turn_count(block) > turn_count(*best.back())))
    best = path;
  if (!block.tags.has(tag))
    for (stripe::Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) find_loop(*inner, tag, path, best);
  path.pop_back();
}

// Does a block inside test values from outside at each of the loop's points? A tile at an edge
// does: few are, and a loop inside the loop would test apart.
bool tests_inside(const Block& loop) {
  return std::any_of(loop.stmts.begin(), loop.stmts.end(), [](const stripe::Statement& stmt) {
    const Block* inner = stmt.block();
    if (!inner) return false;
    const bool tests = std::any_of(inner->idxs.begin(), inner->idxs.end(), [&](const Index& index) {
      return index.affine && std::any_of(inner->constraints.begin(), inner->constraints.end(),
                                         [&](const Affine& form) { return form.uses(index.name); });
    });
    return tests || tests_inside(*inner);
  });
}

class TileMarker {
 public:
  explicit TileMarker(const PrefetchTileOptions& options) : options_(options) {}

  // `large`: the block's names of views of large tensors. How many views were marked.
  int64_t run(Block& block, const std::set<std::string>& large) const {
    int64_t marked = 0;
    bool is_last =
        true;  // of the statements with a loop: what others have in common is no epilogue
    for (size_t s = block.stmts.size(); s-- > 0;) {
      Block* inner = block.stmts[s].block();
      if (!inner) continue;
      marked += run(*inner, seen_inside(*inner, large));
      Path path, loop;
      find_loop(*inner, options_.loop, path, loop);
      if (loop.empty() || !std::exchange(is_last, false) || tests_inside(*loop.back())) continue;
      std::vector<Refinement> views = used_after(block, s, large);
      if (!views.empty()) marked += fetch(loop, views);
    }
    return marked;
  }

 private:
  // The block's views of large tensors that statements behind `position` use, as it sees them.
  static std::vector<Refinement> used_after(const Block& block, size_t position,
                                            const std::set<std::string>& large) {
    std::map<std::string, bool> streams;
    for (size_t s = position + 1; s < block.stmts.size(); ++s)
      if (const Block* user = block.stmts[s].block()) collect(*user, {}, large, streams);
    std::vector<Refinement> out;
    for (const Refinement& ref : block.refs)
      if (auto found = streams.find(ref.into); found != streams.end() && !found->second)
        out.push_back(ref);
    return out;
  }

  // By the outermost block's name for it: is what is stored there #stream?
  static void collect(const Block& block, const std::map<std::string, std::string>& outer_names,
                      const std::set<std::string>& large, std::map<std::string, bool>& streams) {
    std::map<std::string, std::string> names;
    for (const Refinement& ref : block.refs) {
      if (!can_be_fetched(ref)) continue;
      auto known = outer_names.find(ref.from);
      const std::string& name = known == outer_names.end() ? ref.from : known->second;
      if (known == outer_names.end() && (!outer_names.empty() || !large.count(name))) continue;
      names[ref.into] = name;
      streams[name] = streams[name] || ref.tags.has("stream");
    }
    if (names.empty()) return;
    for (const stripe::Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) collect(*inner, names, large, streams);
  }

  static int64_t fetch(const Path& path, const std::vector<Refinement>& views) {
    int64_t rows = 1;
    for (const Refinement& view : views) rows = std::max(rows, row_count(view));
    if (!can_hold_fetches(*path.back()) || !make_turns(*path.back(), rows)) return 0;
    std::vector<Refinement> seen;
    for (const Refinement& view : views) seen.push_back(brought_down(path, view));
    fetch_rows(*path.back(), seen);
    return static_cast<int64_t>(views.size());
  }

  // Cuts the loop so that it has at least so many turns, about as many if it can; false: it is too
  // short.
  static bool make_turns(Block& loop, int64_t rows) {
    if (runs_in_its_own_way(loop)) return false;
    Index* last = nullptr;
    for (Index& index : loop.idxs)
      if (!index.affine && index.range > 1) last = &index;
    if (!last || turn_count(loop) < static_cast<double>(rows)) return false;
    const double others = turn_count(loop) / static_cast<double>(last->range);
    int64_t steps = last->range;
    while (steps > 1 &&
           (last->range % steps != 0 ||
            others * static_cast<double>(last->range / steps) < static_cast<double>(rows)))
      --steps;
    if (steps == 1) return true;
    std::map<std::string, int64_t> tile;
    for (const Index& index : loop.idxs)
      if (!index.affine) tile[index.name] = index.name == last->name ? steps : 1;
    split_block(loop, tile);
    return true;
  }

  // The view as the last block of the path sees it, which all blocks of the path get.
  static Refinement brought_down(const Path& path, Refinement view) {
    for (Affine& access : view.access) access = Affine();
    view.tags = {};
    for (Block* block : path) {
      view.from = view.into;
      view.into = block->fresh_name(view.from);
      block->refs.push_back(view);
    }
    return view;
  }

  const PrefetchTileOptions& options_;
};

}  // namespace

void describe(PrefetchTileOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.tag("loop", options.loop, "tag of the reduction's loop");
  fields.unit("memory", options.memory, "memory unit of the model");
  fields.add("percent", options.percent,
             "of one instance of it: what is used of a smaller tensor stays near", {0, 1 << 20});
}

Status prefetch_tile(stripe::Program& program, const PrefetchTileOptions& options,
                     PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const double least = bytes_of(context.model(), options.memory, options.percent);
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    context.matched();
    const std::set<std::string> large = large_views(kernel, least);
    const int64_t marked = large.empty() ? 0 : TileMarker(options).run(kernel, large);
    if (marked == 0) {
      context.skipped(kernel.name, "no large tensor is used behind a reduction");
    } else {
      context.count("views_fetched", marked);
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
