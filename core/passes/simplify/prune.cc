// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/prune.h"

#include <algorithm>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/unit_numbers.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

using Box = std::map<std::string, Interval>;

void collect_names(const Affine& form, std::set<std::string>& names) {
  for (const auto& [name, coefficient] : form.terms()) names.insert(name);
}

// Every index that an expression in the block uses.
std::set<std::string> used_indices(const Block& block) {
  std::set<std::string> used;
  for (const Affine& constraint : block.constraints) collect_names(constraint, used);
  auto location = [&](const stripe::Location& loc) {
    for (const stripe::LocationUnit& unit : loc.path)
      for (const Affine& form : unit.units) collect_names(form, used);
  };
  location(block.location);
  for (const Refinement& ref : block.refs) {
    for (const Affine& access : ref.access) collect_names(access, used);
    location(ref.location);
  }
  for (const Statement& stmt : block.stmts) {
    if (auto* load = std::get_if<stripe::LoadIndex>(&stmt.op)) collect_names(load->from, used);
    if (const Block* inner = stmt.block())
      for (const Index& index : inner->idxs)
        if (index.affine) collect_names(*index.affine, used);
  }
  return used;
}

class Pruner {
 public:
  Pruner(const PruneOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  // This block is statement `position` of `around`, which is null for the root.
  void run(Block& block, const Box& outer, const Block* around, size_t position) {
    context_.matched();
    int64_t before = removed_;
    if (options_.indices) prune_constant_indices(block);
    Box box = block.index_box(outer);
    if (options_.constraints)
      removed_ +=
          static_cast<int64_t>(std::erase_if(block.constraints, [&](const Affine& constraint) {
            return interval_of(constraint, box).lower >= 0;
          }));
    for (size_t i = 0; i < block.stmts.size(); ++i)
      if (Block* inner = block.stmts[i].block()) run(*inner, box, &block, i);
    if (options_.constraints) prune_dead_blocks(block, box);
    // After the inner blocks: what they no longer use, this one need not bring in.
    if (options_.indices) prune_unused_indices(block);
    if (options_.refinements) prune_refinements(block, around, position);
    if (removed_ != before) context_.changed();
  }

  int64_t removed() const { return removed_; }

 private:
  // Replaces each index of one value that does not depend on the parent by that value.
  void prune_constant_indices(Block& block) {
    std::map<std::string, Affine> forms;
    for (const Index& index : block.idxs) {
      // A #vector block keeps its one index: its range is the number of lanes.
      if (index.range != 1 || (block.tags.has(stripe::tag::kVector) && !index.affine)) continue;
      if (!index.affine || index.affine->is_constant())
        forms[index.name] = index.affine ? *index.affine : Affine();
    }
    if (forms.empty()) return;
    substitute_indices(block, forms);
    fold_unit_numbers(block, context_.model());
    removed_ += static_cast<int64_t>(
        std::erase_if(block.idxs, [&](const Index& index) { return forms.count(index.name) > 0; }));
  }

  void prune_unused_indices(Block& block) {
    std::set<std::string> used = used_indices(block);
    removed_ += static_cast<int64_t>(std::erase_if(block.idxs, [&](const Index& index) {
      return index.range == 1 && index.affine && !used.count(index.name);
    }));
  }

  static bool is_dead(const Statement& stmt, const Box& box) {
    const Block* inner = stmt.block();
    if (!inner || inner->tags.has(stripe::tag::kMain) || inner->tags.has(stripe::tag::kPrologue))
      return false;
    for (const Index& index : inner->idxs)
      if (index.range == 0) return true;
    Box inner_box = inner->index_box(box);
    return std::any_of(
        inner->constraints.begin(), inner->constraints.end(),
        [&](const Affine& constraint) { return interval_of(constraint, inner_box).upper < 0; });
  }

  // Removes blocks of range 0 or with a constraint that never holds. The only writer of what a
  // later statement reads stays: a read needs a writer before it, and whether the reader is dead,
  // too, is not always known.
  void prune_dead_blocks(Block& block, const Box& box) {
    std::vector<bool> stays;
    for (const Statement& stmt : block.stmts) stays.push_back(!is_dead(stmt, box));
    keep_only_writers(block, stays);
    removed_ += std::count(stays.begin(), stays.end(), false);
    erase_statements(block, stays);
  }

  void prune_refinements(Block& block, const Block* around, size_t position) {
    if (block.tags.has(stripe::tag::kProgram) || block.tags.has(stripe::tag::kMain) ||
        block.tags.has(stripe::tag::kPrologue))
      return;
    const std::set<std::string> needed = needed_refinements(block, around, position);
    removed_ += static_cast<int64_t>(
        std::erase_if(block.refs, [&](const Refinement& ref) { return !needed.count(ref.into); }));
  }

  const PruneOptions& options_;
  PassContext& context_;
  int64_t removed_ = 0;
};

}  // namespace

void describe(PruneOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs,
              "tags of the blocks that are pruned; their insides too; none = the whole program");
  fields.add("indices", options.indices, "remove indices of one value");
  fields.add("constraints", options.constraints,
             "remove constraints that always hold and blocks that never run");
  fields.add("refinements", options.refinements, "remove refinements that nothing uses");
}

Status prune(stripe::Program& program, const PruneOptions& options, PassContext& context) {
  Pruner pruner(options, context);
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    pruner.run(block, place.parent ? place.parent->box : Box(),
               place.parent ? place.parent->block : nullptr, place.position);
  });
  if (pruner.removed() > 0) context.count("things_removed", pruner.removed());
  return {};
}

}  // namespace stria::passes
