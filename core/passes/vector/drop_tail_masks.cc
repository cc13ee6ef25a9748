// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/vector/drop_tail_masks.h"

#include <algorithm>
#include <map>
#include <optional>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The blocks from a statement of the host inward to a block.
using Path = std::vector<Block*>;

// Writes a form of the path's last block over the host's indices ("host/name") and the indices of
// the blocks between ("depth/name").
Affine over_path(const Path& path, size_t depth, const Affine& form) {
  std::map<std::string, Affine> values;
  for (const auto& [name, coefficient] : form.terms()) {
    const stripe::Index* index = path[depth]->find_index(name);
    const Affine own = Affine::of(fmt::format("{}/{}", depth, name));
    if (!index || !index->affine) {
      values[name] = own;
    } else {
      const Affine outer =
          depth > 0
              ? over_path(path, depth - 1, *index->affine)
              : index->affine->rename([](const std::string& outside) { return "host/" + outside; });
      values[name] = index->range == 1 ? outer : outer + own;
    }
  }
  return form.substitute(values);
}

// The ranges of the indices that over_path names, without what an affine form adds to them.
std::map<std::string, Interval> ranges_of(const Path& path) {
  std::map<std::string, Interval> ranges;
  for (size_t depth = 0; depth < path.size(); ++depth)
    for (const stripe::Index& index : path[depth]->idxs)
      ranges[fmt::format("{}/{}", depth, index.name)] = {0, std::max<int64_t>(index.range, 1) - 1};
  return ranges;
}

bool of_host_alone(const Affine& form) {
  return std::all_of(form.terms().begin(), form.terms().end(),
                     [](const auto& term) { return term.first.starts_with("host/"); });
}

// Where the last block's view lies in the host's refinement `name`, for each dimension; nullopt if
// it is a view of something else.
std::optional<std::vector<Affine>> place_in(const Path& path, const Refinement& view,
                                            const std::string& name) {
  std::vector<Affine> out(view.access.size());
  const Refinement* at = &view;
  for (size_t depth = path.size(); depth-- > 0;) {
    for (size_t d = 0; d < out.size(); ++d) out[d] += over_path(path, depth, at->access[d]);
    if (depth == 0) return at->from == name ? std::optional(out) : std::nullopt;
    at = path[depth - 1]->find_ref(at->from);
    if (!at || at->dir == RefDir::none) return std::nullopt;
  }
  return std::nullopt;
}

// If the test is "coordinate <= end" for an `end` over the host's indices alone: that end. The test
// turns off the lanes beyond it.
std::optional<Affine> end_of(const Affine& test, const std::vector<Affine>& place, size_t dim) {
  const Affine rest = test + place[dim];
  return !of_host_alone(place[dim]) && of_host_alone(rest) ? std::optional(rest) : std::nullopt;
}

bool clamps(const Block& block) {
  return std::any_of(block.refs.begin(), block.refs.end(),
                     [](const Refinement& ref) { return ref.tags.has(stripe::tag::kClamp); }) ||
         std::any_of(block.stmts.begin(), block.stmts.end(),
                     [](const Statement& stmt) { return stmt.block() && clamps(*stmt.block()); });
}

// Is the owner's allocation `name` filled by a block that clamps? It may then hold poison for
// elements beyond the tensor, and only tests keep these from being read.
bool may_hold_outside(const Block& owner, const std::string& name) {
  return std::any_of(owner.stmts.begin(), owner.stmts.end(), [&](const Statement& stmt) {
    const Block* block = stmt.block();
    return block && writes_into(*block, name) && clamps(*block);
  });
}

// May the block run for lanes that the program does not ask for? No coordinate may be chosen by a
// scalar, and all functions must be total.
bool all_total(const Block& block) {
  return std::all_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) return load->at.empty();
    if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) return store->at.empty();
    const auto* intrinsic = std::get_if<stripe::Intrinsic>(&stmt.op);
    if (!intrinsic) return !stmt.block() && !stmt.special();
    const Builtin* builtin = find_builtin(intrinsic->name);
    return builtin && is_total(*builtin, intrinsic->type);
  });
}

class Host {
 public:
  // `around`: the blocks around the host, the entry block first.
  Host(const Path& around, Block& host, const DropTailMasksOptions& options, PassContext& context)
      : around_(around), host_(host), options_(options), context_(context) {}

  void run() {
    for (Statement& stmt : host_.stmts)
      if (Block* block = stmt.block()) {
        Path path = {block};
        search(path);
      }
  }

 private:
  void search(Path& path) {
    Block& block = *path.back();
    if (block.tags.has_all(options_.reqs) && is_leaf(block)) free(path);
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) {
        path.push_back(inner);
        search(path);
        path.pop_back();
      }
  }

  void free(const Path& path) {
    Block& lanes = *path.back();
    if (lanes.constraints.empty()) return;
    const Refinement* sums = nullptr;
    for (const Refinement& ref : lanes.refs) {
      if (ref.dir == RefDir::in) continue;
      if (sums || !ref.agg) return;
      sums = &ref;
    }
    if (!sums || !all_total(lanes)) return;
    const Refinement* place = allocated(path, *sums);
    if (!place) return;
    const auto at = place_in(path, *sums, place->into);
    if (!at) return;
    std::erase_if(lanes.constraints, [&](const Affine& form) {
      const Affine test = over_path(path, path.size() - 1, form);
      for (size_t d = 0; d < at->size(); ++d) {
        const std::optional<Affine> end = end_of(test, *at, d);
        if (!end) continue;
        context_.matched();
        const Refusal refusal = why_needed(path, form, place->into, d, *end);
        if (!refusal) {
          context_.count("tests_dropped");
          context_.changed();
          return true;
        }
        context_.skipped(lanes.name.empty() ? host_.name : lanes.name, refusal.reason());
      }
      return false;
    });
  }

  // The host's allocation of which the refinement is a view; null if there is none.
  const Refinement* allocated(const Path& path, const Refinement& view) const {
    std::string name = view.from;
    for (size_t depth = path.size() - 1; depth-- > 0;) {
      const Refinement* around = path[depth]->find_ref(name);
      if (!around || around->dir == RefDir::none) return nullptr;
      name = around->from;
    }
    const Refinement* out = host_.find_ref(name);
    return out && out->dir == RefDir::none ? out : nullptr;
  }

  // Refuses to drop the test if lanes beyond it do harm.
  Refusal why_needed(const Path& path, const Affine& form, const std::string& sums, size_t dim,
                     const Affine& end) const {
    for (const Refinement& ref : path.back()->refs)
      if (ref.dir != RefDir::none) STRIA_RETURN_IF_REFUSED(why_not_beyond(path, ref, form));
    for (const Statement& stmt : host_.stmts) {
      const Block* block = stmt.block();
      if (!block || block == path[0]) continue;
      Path reader = {const_cast<Block*>(block)};
      if (reads_beyond(reader, sums, dim, end))
        return fmt::format("all of '{}' is read afterwards", sums);
    }
    return Refusal::none();
  }

  // Refuses a view that must not be accessed beyond the test. Each dimension that moves with the
  // tested indices must stay within the tensor, and the elements there must hold values.
  Refusal why_not_beyond(const Path& path, const Refinement& view, const Affine& form) const {
    const std::string ends = fmt::format("'{}' ends where the lanes do", view.into);
    Path blocks = around_;
    blocks.push_back(&host_);
    blocks.insert(blocks.end(), path.begin(), path.end());
    size_t depth = blocks.size() - 1;
    const Affine test = over_path(blocks, depth, form);
    // Where the view lies in the tensor, as forms over the indices of all blocks.
    std::vector<Affine> place(view.access.size());
    const Refinement* at = &view;
    for (; at->dir != RefDir::none; --depth) {
      if (depth == 0 || at->tags.has(stripe::tag::kClamp) || at->tags.has(stripe::tag::kZeroFill))
        return ends;
      for (size_t d = 0; d < place.size(); ++d) place[d] += over_path(blocks, depth, at->access[d]);
      at = blocks[depth - 1]->find_ref(at->from);
      if (!at) return ends;
    }
    if (may_hold_outside(*blocks[depth], at->into))
      return fmt::format("elements of '{}' may stand for none of a tensor", view.into);
    const std::map<std::string, Interval> ranges = ranges_of(blocks);
    for (size_t d = 0; d < place.size(); ++d) {
      const bool moves = std::any_of(test.terms().begin(), test.terms().end(),
                                     [&](const auto& term) { return place[d].uses(term.first); });
      const Interval reach = interval_of(place[d], ranges);
      if (moves && (reach.lower < 0 || reach.upper >= at->shape.dims[d].size)) return ends;
    }
    return Refusal::none();
  }

  // Do statements in the path's last block load elements of the host's `sums` without a test that
  // keeps them below `end`?
  bool reads_beyond(Path& path, const std::string& sums, size_t dim, const Affine& end) const {
    const Block& block = *path.back();
    for (const Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none || ref.dir == RefDir::out) continue;
      const auto at = place_in(path, ref, sums);
      if (!at) continue;
      const bool used =
          std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
            const auto* load = std::get_if<stripe::Load>(&stmt.op);
            const stripe::Special* special = stmt.special();
            return (load && load->from == ref.into) ||
                   (special && std::find(special->inputs.begin(), special->inputs.end(),
                                         ref.into) != special->inputs.end());
          });
      // A block that aggregates into it also reads it.
      if (!used && ref.dir == RefDir::in) continue;
      if (!used && std::none_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& s) {
            const auto* store = std::get_if<stripe::Store>(&s.op);
            return store && store->into == ref.into;
          }))
        continue;
      const bool kept =
          std::any_of(block.constraints.begin(), block.constraints.end(), [&](const Affine& form) {
            return end_of(over_path(path, path.size() - 1, form), *at, dim) == end;
          });
      if (!kept) return true;
    }
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) {
        path.push_back(const_cast<Block*>(inner));
        const bool beyond = reads_beyond(path, sums, dim, end);
        path.pop_back();
        if (beyond) return true;
      }
    return false;
  }

  const Path& around_;
  Block& host_;
  const DropTailMasksOptions& options_;
  PassContext& context_;
};

// `path`: the blocks from the entry block to the one at hand.
void visit(Path& path, const DropTailMasksOptions& options, PassContext& context) {
  Block& block = *path.back();
  const Path around(path.begin(), path.end() - 1);
  const bool holds = std::any_of(block.refs.begin(), block.refs.end(),
                                 [](const Refinement& ref) { return ref.dir == RefDir::none; });
  // Allocations of a section are shared by kernels, and any of them may read the whole tensor.
  if (holds && around.size() > 1) Host(around, block, options, context).run();
  for (Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) {
      path.push_back(inner);
      visit(path, options, context);
      path.pop_back();
    }
}

}  // namespace

void describe(DropTailMasksOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block of lanes must have");
}

Status drop_tail_masks(stripe::Program& program, const DropTailMasksOptions& options,
                       PassContext& context) {
  Path path = {&program.entry};
  visit(path, options, context);
  return {};
}

}  // namespace stria::passes
