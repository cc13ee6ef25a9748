// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/compute_deps.h"

#include <algorithm>
#include <optional>

#include "stria/pass/select_blocks.h"
#include "stria/poly/solver_budget.h"
#include "stria/rewrite/shared_bytes.h"
#include "stria/rewrite/statement_dependencies.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;

void set_dependencies(Block& block, const Dependencies& found, PassContext& context) {
  bool changed = !block.tags.has(stripe::tag::kDeps);
  for (size_t i = 0; i < found.size(); ++i) {
    changed = changed || block.stmts[i].deps != found[i];
    block.stmts[i].deps = found[i];
    if (!found[i].empty()) context.count("dependencies", static_cast<int64_t>(found[i].size()));
  }
  block.tags.set(stripe::tag::kDeps);
  if (changed) context.changed();
}

}  // namespace

void describe(ComputeDepsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("inside", options.inside, "also the blocks inside them");
  fields.add("solver_steps", options.solver_steps,
             "limit of the solver's work for one block, in steps of about 2 ns; beyond it, "
             "statements whose boxes meet wait; 0 = no limit");
}

Status compute_deps(stripe::Program& program, const ComputeDepsOptions& options,
                    PassContext& context) {
  std::optional<SharedBytes> shared;
  if (program.entry.tags.has(stripe::tag::kPlaced)) shared.emplace(program.entry);
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
