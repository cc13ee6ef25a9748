// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/constraint_reduction.h"

#include <algorithm>
#include <optional>

#include "stria/pass/select_blocks.h"
#include "stria/poly/find_point.h"
#include "stria/poly/solver_budget.h"
#include "stria/rewrite/index_option.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/block_points.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::BlockPoints;
using stripe::Index;
using stripe::Statement;

using Box = std::map<std::string, Interval>;

class ConstraintReducer {
 public:
  ConstraintReducer(const ConstraintReductionOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  // True if something changed in the block or inside.
  bool run(Block& block, const BlockPoints* outer) {
    if (block.tags.has(stripe::tag::kStencil)) return false;
    bool changed = false;
    BlockPoints points = points_of(block, outer, number_++);
    if (!block.constraints.empty()) {
      changed = shrink(block, points);
      if (changed) points = points_of(block, outer, number_++);
      changed = drop_constraints(block, points) || changed;
    }
    std::vector<bool> stays;
    for (Statement& stmt : block.stmts) {
      Block* inner = stmt.block();
      stays.push_back(!inner || !never_runs(*inner, points));
      if (inner && stays.back()) changed = run(*inner, &points) || changed;
    }
    keep_only_writers(block, stays);
    const int64_t removed = std::count(stays.begin(), stays.end(), false);
    if (removed > 0) context_.count("blocks_removed", removed);
    erase_statements(block, stays);
    return changed || removed > 0;
  }

 private:
  bool never_runs(const Block& block, const BlockPoints& around) {
    if (block.tags.has(stripe::tag::kMain) || block.tags.has(stripe::tag::kPrologue)) return false;
    const BlockPoints points = points_of(block, &around, number_++);
    if (!points.runs) return true;
    if (points.constraints.empty()) return false;
    const Box box = points.box();
    for (const Affine& form : points.constraints)
      if (interval_of(form, box).upper < 0) return true;
    if (!options_.exact || !points.exact || always_hold(points.constraints, box)) return false;
    if (find_point(box, points.all_constraints())) return false;
    return decided(points.set().is_empty());
  }

  static bool always_hold(const std::vector<Affine>& forms, const Box& box) {
    return std::all_of(forms.begin(), forms.end(),
                       [&](const Affine& form) { return interval_of(form, box).lower >= 0; });
  }

  bool decided(const Result<bool>& answer) {
    if (!answer.ok()) context_.count("undecided");
    return answer.ok() && *answer;
  }

  // Shrinks the range of each index to the values that it has at points that run.
  bool shrink(Block& block, const BlockPoints& points) {
    if (block.tags.has(stripe::tag::kVector) || !points.exact || !points.runs) return false;
    std::optional<IntegerSet> set;
    std::map<std::string, Affine> forms;
    bool changed = false;
    for (Index& index : block.idxs) {
      if (index.affine || index.range < 2 || names_index(options_.skip_idxs, index)) continue;
      const std::string variable = points.forms.at(index.name).terms()[0].first;
      Interval values = by_intervals(points, variable, index.range);
      const bool named = std::any_of(points.constraints.begin(), points.constraints.end(),
                                     [&](const Affine& form) { return form.uses(variable); });
      if (options_.exact && named && !attains(points, variable, 0, index.range - 1)) {
        if (!set) set = points.set();
        Result<Bounds> bounds = set->bounds(Affine::of(variable));
        if (bounds.ok() && bounds->lower && bounds->upper)
          values = {*bounds->lower, *bounds->upper};
        else if (!bounds.ok() && bounds.status().code() == StatusCode::unknown)
          context_.count("undecided");
      }
      if (values.empty() || (values.lower <= 0 && values.upper >= index.range - 1)) continue;
      index.range = values.upper - values.lower + 1;
      if (values.lower != 0) forms[index.name] = Affine::of(index.name) + values.lower;
      context_.count("ranges_shrunk");
      changed = true;
    }
    if (!forms.empty()) substitute_indices(block, forms);
    return changed;
  }

  // True if points that run are known at which the variable has the first and the last value.
  static bool attains(const BlockPoints& points, const std::string& variable, int64_t lower,
                      int64_t upper) {
    const Box box = points.box();
    const std::vector<Affine> constraints = points.all_constraints();
    return find_point(box, constraints, {{variable, lower}}) &&
           find_point(box, constraints, {{variable, upper}});
  }

  // True if for each form a point is known that violates it alone: the other forms, and the
  // constraints around, hold there.
  static bool all_needed(const std::vector<Affine>& forms, const BlockPoints* outer,
                         const Box& box) {
    for (size_t i = 0; i < forms.size(); ++i) {
      std::vector<Affine> others = forms;
      others[i] = Affine(-1) - forms[i];
      if (outer) {
        const std::vector<Affine> around = outer->all_constraints();
        others.insert(others.end(), around.begin(), around.end());
      }
      if (!find_point(box, others)) return false;
    }
    return true;
  }

  // The part of the variable's range that every constraint allows when it is taken alone, with the
  // most favourable values of all other variables.
  static Interval by_intervals(const BlockPoints& points, const std::string& variable,
                               int64_t range) {
    Interval values{0, range - 1};
    const Box box = points.box();
    for (const Affine& form : points.constraints) {
      const int64_t coefficient = form.coefficient(variable);
      if (coefficient == 0) continue;
      Affine rest = form;
      rest.add_term(variable, -coefficient);
      const int64_t best = interval_of(rest, box).upper;
      if (!stripe::is_small(Affine(best))) continue;
      if (coefficient > 0)
        values.lower = std::max(values.lower, ceil_div(-best, coefficient));
      else
        values.upper = std::min(values.upper, floor_div(best, -coefficient));
    }
    return values;
  }

  // Drops the constraints that the others, and those around, imply.
  bool drop_constraints(Block& block, const BlockPoints& points) {
    if (!points.exact) return false;
    const Box box = points.box();
    std::vector<Affine> open;  // undecided by intervals
    std::vector<bool> stays;
    for (const Affine& form : points.constraints) {
      stays.push_back(interval_of(form, box).lower < 0);
      if (stays.back()) open.push_back(form);
    }
    if (options_.exact && !all_needed(open, points.outer, box)) {
      IntegerSet around = IntegerSet::box({box.begin(), box.end()});
      if (points.outer)
        for (const Affine& form : points.outer->all_constraints()) around.add_ge(form);
      const std::vector<Affine> needed = around.needed(open);  // in their order
      auto next = needed.begin();
      for (size_t i = 0; i < stays.size(); ++i) {
        if (!stays[i]) continue;
        stays[i] = next != needed.end() && *next == points.constraints[i];
        if (stays[i]) ++next;
      }
    }
    size_t position = 0;
    const auto dropped =
        std::erase_if(block.constraints, [&](const Affine&) { return !stays[position++]; });
    if (dropped > 0) context_.count("constraints_dropped", static_cast<int64_t>(dropped));
    return dropped > 0;
  }

  const ConstraintReductionOptions& options_;
  PassContext& context_;
  int64_t number_ = 0;
};

}  // namespace

void describe(ConstraintReductionOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs,
              "tags of the blocks that are reduced; their insides too; none = the whole program");
  fields.indices("skip_idxs", options.skip_idxs,
                 "indices whose ranges stay as they are: names, or `#tag` for those that have it");
  fields.add("exact", options.exact, "decide by integer sets what intervals leave open");
  fields.add("solver_steps", options.solver_steps,
             "limit of the solver's work for one selected block, in steps of about 2 ns; what is "
             "undecided then stays; 0 = no limit");
}

Status constraint_reduction(stripe::Program& program, const ConstraintReductionOptions& options,
                            PassContext& context) {
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    context.matched();
    std::optional<SolverBudget> budget;
    if (options.solver_steps > 0) budget.emplace(options.solver_steps);
    std::vector<const Block*> path;
    for (const stripe::Place* at = place.parent; at; at = at->parent)
      path.insert(path.begin(), at->block);
    std::vector<BlockPoints> around;
    around.reserve(path.size());
    for (const Block* outer : path)
      around.push_back(points_of(*outer, around.empty() ? nullptr : &around.back(),
                                 -1 - static_cast<int64_t>(around.size())));
    ConstraintReducer reducer(options, context);
    if (reducer.run(block, around.empty() ? nullptr : &around.back())) context.changed();
  });
  return {};
}

}  // namespace stria::passes
