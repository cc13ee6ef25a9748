// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/distribute.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>

#include "stria/base/refusal.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// --- blocks of one point -------------------------------------------------------------------------

// The one view inside the block that aggregates into `sum`; null if `sum` is used in any other way.
Refinement* only_adder(Block& block, const Refinement& sum) {
  Refinement* adder = nullptr;
  for (Statement& stmt : block.stmts)
    for (Refinement& ref : stmt.block()->refs) {
      if (ref.dir == RefDir::none || ref.from != sum.into) continue;
      if (adder || ref.agg != sum.agg || ref.dir == RefDir::in) return nullptr;
      adder = &ref;
    }
  return adder;
}

// May the statements of `inner` move into the block around it? It must have one point and whole
// views, and the start of an aggregation must be expressible at the statement that adds.
bool is_mere_wrapper(Block& inner) {
  if (!inner.constraints.empty() || runs_in_its_own_way(inner) || inner.stmts.empty()) return false;
  for (const Index& index : inner.idxs)
    if (index.range != 1 || index.affine) return false;
  for (const Statement& stmt : inner.stmts)
    if (!stmt.block() || !stmt.deps.empty()) return false;
  for (const Refinement& ref : inner.refs) {
    if (ref.dir == RefDir::none) continue;
    if (!ref.tags.empty()) return false;
    for (const Affine& form : ref.access)
      if (!(form == Affine())) return false;
    if (ref.agg && !only_adder(inner, ref)) return false;
  }
  return true;
}

// Inlines such wrappers, from the inside out.
void write_in_wrappers(Block& block) {
  std::vector<Statement> stmts;
  bool changed = false;
  for (Statement& stmt : block.stmts) {
    Block* inner = stmt.block();
    if (inner) write_in_wrappers(*inner);
    if (!inner || !is_mere_wrapper(*inner)) {
      stmts.push_back(std::move(stmt));
      continue;
    }
    changed = true;
    std::map<std::string, Affine> values;
    for (const Index& index : inner->idxs) values[index.name] = Affine();
    substitute_indices(*inner, values);
    std::map<std::string, std::string> outside;
    for (Refinement& ref : inner->refs) {
      if (ref.agg && ref.dir == RefDir::out) only_adder(*inner, ref)->dir = RefDir::out;
      outside[ref.into] = ref.from;
      if (ref.dir != RefDir::none) continue;
      const std::string name = block.fresh_name(ref.into);
      outside[ref.into] = name;
      ref.into = name;
      block.refs.push_back(std::move(ref));
    }
    for (Statement& one : inner->stmts) {
      for (Refinement& ref : one.block()->refs)
        if (ref.dir != RefDir::none) ref.from = outside.at(ref.from);
      stmts.push_back(std::move(one));
    }
  }
  block.stmts = std::move(stmts);
  if (changed) run_in_order(block);
}

// Does a scalar choose elements anywhere inside, or a special use them?
bool chooses_elements(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) return !load->at.empty();
    if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) return !store->at.empty();
    return stmt.special() || (stmt.block() && chooses_elements(*stmt.block()));
  });
}

// --- the choice ----------------------------------------------------------------------------------

double points_with_inner(const Block& block) {
  double points = 1;
  for (const Index& index : block.idxs) points *= static_cast<double>(index.range);
  double inside = 1;
  for (const Statement& stmt : block.stmts)
    if (stmt.block()) inside = std::max(inside, points_with_inner(*stmt.block()));
  return points * inside;
}

class Distributor {
 public:
  Distributor(Block& block, const DistributeOptions& options, PassContext& context)
      : block_(block), options_(options), context_(context) {}

  // Cuts the block, or sets its number of lanes; or refuses.
  Refusal run(const TensorNames& around) {
    STRIA_RETURN_IF_REFUSED(why_not(around));
    start_indices_at_zero(block_);
    if (const int64_t lanes = lanes_alone(); lanes > 0) {
      if (lanes == options_.group_lanes) return "each point has all lanes";
      context_.note(fmt::format("{}: {} lanes for each point", block_.name, lanes));
      context_.count("blocks_of_fewer_lanes");
      block_.tags.set(stripe::tag::kGroupLanes, lanes);
      return Refusal::none();
    }
    const Index* index = choose_index();
    if (!index) return "it has no index of several outputs";
    const int64_t count = points_together(*index);
    if (count < 2) return "a point is work enough, or there would be too few groups";
    context_.note(fmt::format("{}: {} points of '{}' together", block_.name, count, index->name));
    context_.count("blocks_distributed");
    cut(index->name, count);
    return Refusal::none();
  }

 private:
  Refusal why_not(const TensorNames& around) const {
    if (runs_in_its_own_way(block_)) return "its points have their places already";
    for (const Statement& stmt : block_.stmts) {
      const Block* inner = stmt.block();
      if (!inner) return "it holds statements that are no blocks";
      if (runs_in_its_own_way(*inner)) return "a block inside has its place already";
      if (chooses_elements(*inner)) return "a scalar chooses elements inside, or a special does";
    }
    for (const Refinement& ref : block_.refs)
      if (ref.dir == RefDir::none && ref.swizzle) return "what it keeps inside is swizzled";
    return why_points_do_not_commute(block_, around);
  }

  // The index with the smallest stride in what is written; null if no index qualifies.
  const Index* choose_index() const {
    const Index* best = nullptr;
    int64_t best_stride = 0;
    for (const IndexRole& role : index_roles(block_)) {
      const Index& index = *block_.find_index(role.name);
      const bool bound = std::any_of(block_.constraints.begin(), block_.constraints.end(),
                                     [&](const Affine& form) { return form.uses(role.name); });
      if (role.kind != IndexKind::output || index.affine || bound) continue;
      if (best && role.output_stride >= best_stride) continue;
      best = &index;
      best_stride = role.output_stride;
    }
    return best;
  }

  double groups() const {
    double groups = 1;
    for (const Index& own : block_.idxs) groups *= static_cast<double>(own.range);
    return groups;
  }

  double largest_statement() const {
    double largest = 1;
    for (const Statement& stmt : block_.stmts)
      largest = std::max(largest, points_with_inner(*stmt.block()));
    return largest;
  }

  double wanted_groups() const {
    const ExecutionUnit* unit = context_.model().find_executor(options_.unit);
    return static_cast<double>((unit ? std::max<int64_t>(unit->count, 1) : 1) *
                               options_.groups_per_unit);
  }

  // The number of lanes for a group of one point whose statements wait for each other. 0: points
  // may run together.
  int64_t lanes_alone() const {
    if (options_.lane_points == 0 || block_.tags.has(stripe::tag::kGroupLanes)) return 0;
    const auto least =
        static_cast<double>(std::min(options_.min_group_lanes, options_.group_lanes));
    const auto is_work = [&](const Statement& stmt) {
      return 2 * points_with_inner(*stmt.block()) >=
             least * static_cast<double>(options_.lane_points);
    };
    if (std::count_if(block_.stmts.begin(), block_.stmts.end(), is_work) < 2) return 0;
    // If there are too few points to fill the machine, each gets more lanes.
    const double busy = wanted_groups() * static_cast<double>(options_.group_lanes) / groups();
    const double lanes = std::ceil(
        std::max({largest_statement() / static_cast<double>(options_.lane_points), busy, least}));
    if (lanes >= static_cast<double>(options_.group_lanes)) return options_.group_lanes;
    return std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(lanes))),
                    options_.group_lanes);
  }

  int64_t points_together(const Index& index) const {
    int64_t bytes = 0;
    for (const Refinement& ref : block_.refs)
      if (ref.dir == RefDir::none)
        bytes += std::min<int64_t>(ref.shape.span_bytes(), int64_t{1} << 40);
    double together = std::min({static_cast<double>(options_.points) / largest_statement(),
                                groups() / wanted_groups(), static_cast<double>(index.range)});
    if (options_.max_local_bytes > 0 && bytes > 0)
      together = std::min(together, static_cast<double>(options_.max_local_bytes / bytes));
    return together < 2 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(together)));
  }

  // --- the change --------------------------------------------------------------------------------

  // How a view of the block moves with the cut index.
  struct Moves {
    std::vector<int64_t> steps, shifts;  // by dimension
    bool widened = false;                // for an allocation: it has a new dimension for the index
    int64_t stride = 0;                  // of the new dimension
  };

  void cut(const std::string& name, int64_t count) {
    Index& index = *block_.find_index(name);
    const int64_t range = index.range;
    index.range = ceil_div(range, count);
    std::map<std::string, Moves> moves;
    for (Refinement& ref : block_.refs) moves[ref.into] = move(ref, name, count);
    for (Statement& stmt : block_.stmts) loop(*stmt.block(), name, count, range, moves);
  }

  static Moves move(Refinement& ref, const std::string& name, int64_t count) {
    Moves out;
    if (ref.dir == RefDir::none) {
      out.widened = true;
      out.stride = std::max<int64_t>(ref.shape.span_elements(), 1);
      ref.shape.dims.insert(ref.shape.dims.begin(), Dim{count, out.stride});
      ref.access.insert(ref.access.begin(), Affine());
      return out;
    }
    for (size_t d = 0; d < ref.access.size(); ++d) {
      const int64_t step = ref.access[d].coefficient(name);
      const int64_t reach = step * (count - 1);
      ref.access[d].add_term(name, step * (count - 1));
      if (reach < 0) ref.access[d] += reach;
      ref.shape.dims[d].size += std::abs(reach);
      out.steps.push_back(step);
      out.shifts.push_back(reach < 0 ? -reach : 0);
    }
    return out;
  }

  static void loop(Block& inner, const std::string& name, int64_t count, int64_t range,
                   const std::map<std::string, Moves>& moves) {
    start_indices_at_zero(inner);
    Index own;
    own.name = inner.fresh_name(name);
    own.range = count;
    const Affine at = Affine::of(own.name);
    // The outer index now counts parts, so forms over it are scaled.
    std::map<std::string, Affine> forms;
    for (Index& index : inner.idxs) {
      if (!index.affine) continue;
      const int64_t step = index.affine->coefficient(name);
      if (step == 0) continue;
      index.affine->add_term(name, step * (count - 1));
      forms[index.name] = Affine::of(index.name) + at * step;
    }
    substitute_indices(inner, forms);
    inner.idxs.insert(inner.idxs.begin(), own);
    for (Refinement& ref : inner.refs) {
      if (ref.dir == RefDir::none) continue;
      const Moves& by = moves.at(ref.from);
      if (by.widened) {
        widen(ref, at, by.stride);
        for (Statement& stmt : inner.stmts)
          if (stmt.block()) widen_below(*stmt.block(), ref.into, by.stride);
        continue;
      }
      for (size_t d = 0; d < ref.access.size(); ++d)
        ref.access[d] += at * by.steps[d] + by.shifts[d];
    }
    if (range % count == 0) return;
    const std::string outer = bring_in(inner, name);
    inner.constraints.push_back(Affine(range - 1) - Affine::of(outer) * count - at);
  }

  static void widen(Refinement& view, const Affine& at, int64_t stride) {
    view.access.insert(view.access.begin(), at);
    view.shape.dims.insert(view.shape.dims.begin(), Dim{1, stride});
  }

  static void widen_below(Block& block, const std::string& name, int64_t stride) {
    for (Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none || ref.from != name) continue;
      widen(ref, Affine(), stride);
      for (Statement& stmt : block.stmts)
        if (stmt.block()) widen_below(*stmt.block(), ref.into, stride);
    }
  }

  Block& block_;
  const DistributeOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(DistributeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("points", options.points,
             "points of the largest statement, about; 0 = the calibration of `unit` says");
  fields.unit("unit", options.unit, "execution unit of the model that runs one group");
  fields.add("groups_per_unit", options.groups_per_unit, "groups that remain for each, at least",
             {1, 1 << 20});
  fields.add(
      "max_local_bytes", options.max_local_bytes,
      "bytes that the block allocates, at most; 0 = no limit; -1 = the calibration of `unit` "
      "says",
      {-1});
  fields.add(
      "lane_points", options.lane_points,
      "points of the largest statement for each lane: if two statements or more are work for "
      "`min_group_lanes` lanes, one point is a group of so few lanes; 0 = use all lanes",
      {0, 1 << 20});
  fields.add("min_group_lanes", options.min_group_lanes,
             "lanes of such a group, at least; a power of two; 0 = the calibration of `unit` says",
             {0, 1 << 20});
  fields.formerly("min_threads");
  fields.add("group_lanes", options.group_lanes,
             "lanes of a group, at most; a power of two; 0 = the calibration of `unit` says",
             {0, 1 << 20});
  fields.formerly("threads");
}

Status distribute(stripe::Program& program, const DistributeOptions& given, PassContext& context) {
  DistributeOptions options = given;
  const GroupFacts& facts = context.model().group_facts(given.unit);
  options.points = or_machines(given.points, facts.group_points);
  options.max_local_bytes = or_machines(given.max_local_bytes, facts.group_local_bytes, -1);
  options.min_group_lanes = or_machines_power(given.min_group_lanes, facts.short_group_lanes);
  options.group_lanes = or_machines_power(given.group_lanes, facts.group_lanes);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  if (!std::has_single_bit(static_cast<uint64_t>(options.min_group_lanes)))
    return invalid_argument("/min_group_lanes: {} is no power of two", options.min_group_lanes);
  if (!std::has_single_bit(static_cast<uint64_t>(options.group_lanes)))
    return invalid_argument("/group_lanes: {} is no power of two", options.group_lanes);
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames& around) {
        context.matched();
        Block changed = block;
        write_in_wrappers(changed);
        if (const Refusal refusal = Distributor(changed, options, context).run(around))
          context.skipped(block.name, refusal.reason());
        if (!(changed == block)) context.changed();
        block = std::move(changed);
        return Status();
      });
}

}  // namespace stria::passes
