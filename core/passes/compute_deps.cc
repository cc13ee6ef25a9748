// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/compute_deps.h"

#include <algorithm>
#include <optional>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/passes/statement_dependencies.h"
#include "stria/passes/statement_list.h"
#include "stria/poly/solver_budget.h"
#include "stria/stripe/allocation_lives.h"

namespace stria::passes {
namespace {

using stripe::Block;

// In a #placed program: which statements use bytes that an earlier one uses as another allocation.
// What may share bytes was never alive together as the statements ran before, and stays so if all
// users of the one wait for all users of the other.
class SharedBytes {
 public:
  explicit SharedBytes(const Block& entry) : lives_(entry) {
    for (size_t a = 0; a < lives_.all().size(); ++a) by_owner_[lives_.all()[a].owner].push_back(a);
  }

  // By statement of the block: earlier ones.
  std::vector<std::vector<size_t>> of(const Block& block) const {
    std::vector<std::set<size_t>> used(block.stmts.size());  // allocations, by statement
    const StatementUsers users(block);
    if (const auto own = by_owner_.find(&block); own != by_owner_.end())
      for (size_t a : own->second)
        for (size_t stmt : users.of(lives_.all()[a].ref->into)) used[stmt].insert(a);
    for (size_t i = 0; i < block.stmts.size(); ++i)
      if (const Block* inner = block.stmts[i].block()) add_inside(*inner, used[i]);
    std::vector<std::vector<size_t>> out(block.stmts.size());
    for (size_t b = 0; b < out.size(); ++b)
      for (size_t a = 0; a < b; ++a)
        if (meet(used[a], used[b])) out[b].push_back(a);
    return out;
  }

 private:
  void add_inside(const Block& block, std::set<size_t>& used) const {
    if (const auto own = by_owner_.find(&block); own != by_owner_.end())
      used.insert(own->second.begin(), own->second.end());
    for (const stripe::Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) add_inside(*inner, used);
  }
  bool meet(const std::set<size_t>& some, const std::set<size_t>& others) const {
    for (size_t x : some)
      for (size_t y : others)
        if (x != y && overlap(x, y) && lives_.may_be_one_memory(x, y)) return true;
    return false;
  }
  bool overlap(size_t x, size_t y) const {
    const stripe::LiveAllocation &a = lives_.all()[x], &b = lives_.all()[y];
    return a.ref->offset_bytes < b.ref->offset_bytes + b.bytes &&
           b.ref->offset_bytes < a.ref->offset_bytes + a.bytes;
  }

  const stripe::AllocationLives lives_;
  std::map<const Block*, std::vector<size_t>> by_owner_;
};

void set_dependencies(Block& block, const Dependencies& found, PassContext& context) {
  bool changed = !block.tags.has("deps");
  for (size_t i = 0; i < found.size(); ++i) {
    changed = changed || block.stmts[i].deps != found[i];
    block.stmts[i].deps = found[i];
    if (!found[i].empty()) context.count("dependencies", static_cast<int64_t>(found[i].size()));
  }
  block.tags.set("deps");
  if (changed) context.changed();
}

}  // namespace

void describe(ComputeDepsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("inside", options.inside, "the blocks inside them as well");
  fields.add("solver_steps", options.solver_steps,
             "work of the solver for one block, in steps of about 2 ns; beyond it statements whose "
             "boxes meet wait; 0 = no limit");
}

Status compute_deps(stripe::Program& program, const ComputeDepsOptions& options,
                    PassContext& context) {
  std::optional<SharedBytes> shared;
  if (program.entry.tags.has("placed")) shared.emplace(program.entry);
  auto order = [&](Block& block, const stripe::Place& place) {
    context.matched();
    std::optional<SolverBudget> budget;
    if (options.solver_steps > 0) budget.emplace(options.solver_steps);
    stripe::StatementConflicts conflicts(place);
    const Dependencies found = dependencies_of(
        block, conflicts, shared ? shared->of(block) : std::vector<std::vector<size_t>>());
    if (conflicts.undecided() > 0) context.count("undecided", conflicts.undecided());
    set_dependencies(block, found, context);
  };
  std::vector<const Block*> selected;
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    selected.push_back(&block);
    if (!options.inside) order(block, place);
  });
  if (!options.inside) return {};
  stripe::visit_blocks(program.entry, [&](Block& block, const stripe::Place& place) {
    const stripe::Place* around = &place;
    while (around && std::find(selected.begin(), selected.end(), around->block) == selected.end())
      around = around->parent;
    if (around) order(block, place);
  });
  return {};
}

}  // namespace stria::passes
