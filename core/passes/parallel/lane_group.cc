// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/lane_group.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/passes/parallel/lane_plan.h"
#include "stria/passes/parallel/lane_split.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_or_holds_pipeline(const Block& block) {
  return block.tags.integer(stripe::tag::kPipeline).value_or(1) > 1 ||
         std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
           return stmt.block() && is_or_holds_pipeline(*stmt.block());
         });
}

bool starts_at_zero(const Refinement& ref) {
  return std::all_of(ref.access.begin(), ref.access.end(),
                     [](const Affine& form) { return form == Affine(); });
}

class GroupThreader {
 public:
  // `order` refuses if points of the group do not commute. `names` are those inside the group.
  GroupThreader(Block& group, Refusal order, TensorNames names, const GroupLanes& options,
                PassContext& context)
      : group_(group),
        order_(std::move(order)),
        names_(std::move(names)),
        options_(options),
        context_(context),
        planner_(group_, options_, context_.model()) {}

  Refusal run() {
    STRIA_RETURN_IF_REFUSED(why_no_group());
    std::map<std::string, std::string> own;
    std::map<std::string, int64_t> steps;
    for (const Refinement& ref : group_.refs) {
      own[ref.into] = ref.into;
      steps[ref.into] = ref.dir == RefDir::none ? 0 : step_of(ref, 0, "");
    }
    STRIA_RETURN_IF_REFUSED(collect(group_, names_, own, steps, ""));
    if (works_.empty()) return "it holds no blocks";
    STRIA_RETURN_IF_REFUSED(hold());
    for (GroupWork& work : works_)
      if (!work.split) work.split = planner_.plan(work, planner_.copied_runs(work));
    describe_groups();
    for (const GroupWork& work : works_) context_.note(planner_.describe(work));
    next_ = 0;
    spread(group_);
    for (const HeldLanes& held : held_) {
      const std::string name = held.ref->into;
      const int64_t slots = distribute_over_lanes(*group_.find_ref(name), held, options_.lane);
      context_.note(fmt::format("{}: '{}': {} slots in each lane", group_.name, name, slots));
    }
    if (group_.location.empty()) {
      stripe::LocationUnit unit;
      unit.name = options_.group;
      for (const Index& index : group_.idxs)
        if (!index.affine && index.range > 1) unit.units.push_back(Affine::of(index.name));
      group_.location.path = {std::move(unit)};
    }
    return Refusal::none();
  }

 private:
  // Blocks for whole subgroups stay as they are (matrix_units).
  bool is_for_subgroup(const Block& block) const {
    return block.location.path.size() == 1 && block.location.path[0].name == options_.subgroup;
  }
  bool names_other_unit(const Block& parent) const {
    return std::any_of(parent.stmts.begin(), parent.stmts.end(), [&](const Statement& stmt) {
      const Block* block = stmt.block();
      return block && !is_for_subgroup(*block) &&
             (!block->location.empty() || names_other_unit(*block));
    });
  }

  Refusal why_no_group() const {
    if (group_.tags.has(stripe::tag::kParallel)) return "it is parallel already";
    if (names_other_unit(group_)) return "blocks inside have their units";
    // A barrier orders nothing between different points of a pipeline (S13), and the new unit may
    // have another pipeline_depth.
    if (is_or_holds_pipeline(group_)) return "it is, or holds, a #pipeline block";
    if (!group_.location.empty()) return Refusal::none();
    STRIA_RETURN_IF_REFUSED(order_);
    for (const Index& index : group_.idxs)
      if (index.affine && index.range > 1) return "an index runs from an affine form";
    for (const IndexRole& role : index_roles(group_))
      if (role.kind != IndexKind::output)
        return fmt::format("groups of different '{}' would write the same elements", role.name);
    return Refusal::none();
  }

  // Collects the blocks that become lanes, in program order. `tensor` maps the refinements of
  // `parent` to those of the group.
  Refusal collect(const Block& parent, const TensorNames& names,
                  const std::map<std::string, std::string>& tensor,
                  const std::map<std::string, int64_t>& steps, const std::string& path) {
    for (size_t i = 0; i < parent.stmts.size(); ++i) {
      const Statement& stmt = parent.stmts[i];
      const Block* block = stmt.block();
      const std::string at = fmt::format("{}{}", path, i);
      if (is_barrier(stmt)) continue;
      if (!block) return fmt::format("statement {} is no block", at);
      if (is_for_subgroup(*block)) continue;
      if (block->tags.has(stripe::tag::kStencil))
        return fmt::format("statement {} is a #stencil", at);
      for (const char* tag : {stripe::tag::kParallel, stripe::tag::kVector})
        if (block->tags.has(tag)) return fmt::format("statement {} is #{}", at, tag);
      if (has_index_locations(*block))
        return fmt::format("a location in statement {} names an index", at);
      GroupWork work;
      work.block = block;
      work.path = at;
      for (const Refinement& ref : block->refs) {
        auto known = tensor.find(ref.from);
        if (known != tensor.end() && &parent != &group_ &&
            std::any_of(parent.refs.begin(), parent.refs.end(), [&](const Refinement& outer) {
              return outer.into == ref.from && !starts_at_zero(outer);
            }))
          moved_.insert(known->second);
        work.tensor[ref.into] =
            ref.dir == RefDir::none || known == tensor.end() ? "" : known->second;
        const auto around = steps.find(ref.from);
        work.around[ref.into] = around == steps.end() ? 0 : around->second;
      }
      if (!why_points_do_not_commute(*block, names))
        for (const IndexRole& role : index_roles(*block))
          if (role.kind == IndexKind::output && !block->find_index(role.name)->affine)
            work.outputs.push_back(role);
      const bool blocks_only =
          std::all_of(block->stmts.begin(), block->stmts.end(),
                      [](const Statement& inner) { return inner.block() || is_barrier(inner); });
      if (work.outputs.empty() && blocks_only && !block->stmts.empty()) {
        std::map<std::string, int64_t> inside;
        for (const Refinement& ref : block->refs)
          inside[ref.into] =
              ref.dir == RefDir::none ? 0 : step_of(ref, work.around.at(ref.into), "");
        STRIA_RETURN_IF_REFUSED(
            collect(*block, names.inside(*block), work.tensor, inside, at + "/"));
        loops_.insert(block);
        continue;
      }
      works_.push_back(std::move(work));
    }
    return Refusal::none();
  }

  // The work's views of the group's allocation `name`.
  static std::vector<const Refinement*> views_of(const GroupWork& work, const std::string& name) {
    std::vector<const Refinement*> views;
    for (const Refinement& ref : work.block->refs)
      if (work.tensor.at(ref.into) == name) views.push_back(&ref);
    return views;
  }

  static double points_of(const GroupWork& work) {
    double points = 1;
    for (const Index& index : work.block->idxs) points *= static_cast<double>(index.range);
    return points;
  }

  // Chooses lanes for all that is in registers. In all blocks, the same lane must touch an element.
  Refusal hold() {
    for (const Refinement& ref : group_.refs) {
      if (ref.dir != RefDir::none || ref.location.empty()) continue;
      const stripe::LocationUnit& unit = ref.location.path.back();
      if (unit.name != options_.registers || !unit.owners.empty()) continue;
      HeldLanes held;
      held.ref = &ref;
      const GroupWork* first = nullptr;
      for (GroupWork& work : works_) {
        if (views_of(work, ref.into).empty()) continue;
        if (!first || points_of(work) > points_of(*first) || (work.split && !first->split))
          if (!(first && first->split && !work.split)) first = &work;
      }
      if (!first) continue;
      if (moved_.count(ref.into))
        return fmt::format("'{}' is in registers, and a loop moves its view", ref.into);
      LaneSplit split;
      if (first->split) {
        split = *first->split;
      } else {
        split = planner_.plan(*first, runs_of(*first, ref));
        planner_.interleave(*first->block, split);
      }
      STRIA_RETURN_IF_REFUSED(lanes_of(*first, split, held));
      for (GroupWork& work : works_)
        for (const Refinement* view : views_of(work, ref.into))
          STRIA_RETURN_IF_REFUSED(take(work, *view, held));
      held_.push_back(std::move(held));
    }
    return Refusal::none();
  }

  // Translates the split of a block over indices into a split of the allocation over dimensions.
  Refusal lanes_of(const GroupWork& work, const LaneSplit& split, HeldLanes& held) const {
    const Refinement& view = *views_of(work, held.ref->into)[0];
    held.runs.assign(view.access.size(), 1);
    const auto dimension_of = [&](const std::string& name) {
      std::optional<size_t> dim;
      for (size_t d = 0; d < view.access.size(); ++d)
        if (view.access[d] == Affine::of(name)) dim = d;
      return dim;
    };
    for (const LaneSplit::Share& share : split.shares) {
      const std::optional<size_t> dim = dimension_of(share.index);
      if (!dim)
        return fmt::format("'{}' is in registers, and no dimension of it is '{}' alone",
                           held.ref->into, share.index);
      held.shares.push_back({*dim, share.lanes});
    }
    for (const auto& [name, run] : split.runs) {
      const std::optional<size_t> dim = dimension_of(name);
      if (!dim)
        return fmt::format("'{}' is in registers, and no dimension of it is '{}' alone",
                           held.ref->into, name);
      held.runs[*dim] = run;
      if (held.ref->shape.dims[*dim].stride == 1) held.vector = dim;
    }
    return Refusal::none();
  }

  // How many contiguous elements of each index a lane should take of what `first` holds. More than
  // one where a tensor that the block reads is contiguous, too, so that lanes load vectors of it.
  // Empty: single elements.
  std::map<std::string, int64_t> runs_of(const GroupWork& first, const Refinement& held) const {
    std::map<std::string, int64_t> runs;
    const int64_t run = options_.run_bytes / byte_size(held.shape.type);
    if (run <= 1 || !std::has_single_bit(static_cast<uint64_t>(run))) return runs;
    for (const GroupWork& work : works_)
      if (!views_of(work, held.into).empty() && !is_leaf(*work.block)) return runs;
    const Refinement& view = *views_of(first, held.into)[0];
    std::vector<std::pair<int64_t, const IndexRole*>> candidates;
    int64_t lanes = 1;
    for (const IndexRole& role : first.outputs) {
      lanes = cost::saturating_product(lanes, role.range);
      bool in_a_row = false, everywhere = role.range % run == 0;
      for (const Refinement& ref : first.block->refs) {
        const int64_t step = ref.dir == RefDir::in ? ref.flat_access().coefficient(role.name) : 0;
        in_a_row |= step == 1;
        everywhere &=
            step == 0 || (step == 1 && (!planner_.is_outside(first, ref) ||
                                        planner_.begins_at_runs(first, ref, role.name, run)));
      }
      if (in_a_row && everywhere)
        candidates.emplace_back(view.flat_access().coefficient(role.name), &role);
    }
    // The index that is contiguous in the sums comes first: it becomes the vectors.
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [stride, role] : candidates) {
      if (lanes / run < options_.group_lanes) break;
      lanes /= run;
      runs[role->name] = run;
    }
    return runs;
  }

  // Gives the block the lanes that hold the elements which it touches.
  Refusal take(GroupWork& work, const Refinement& view, const HeldLanes& held) const {
    LaneSplit split;
    const auto refuse = [&](size_t d) {
      return fmt::format("'{}' is in registers, and block {} does not share out its dimension {}",
                         held.ref->into, work.path, d);
    };
    // An index that walks along two dimensions at once, as on a diagonal, cannot be divided among
    // lanes for both.
    std::map<std::string, size_t> walked;
    const auto walks_alone = [&](const std::string& name, size_t d) {
      return walked.emplace(name, d).first->second == d;
    };
    for (const auto& [d, lanes] : held.shares) {
      std::string name;
      const bool single = view.access[d].is_single_index(&name);
      const bool known =
          single && std::any_of(work.outputs.begin(), work.outputs.end(),
                                [&](const IndexRole& role) { return role.name == name; });
      if (!known || view.shape.dims[d].size != 1 || !walks_alone(name, d)) return refuse(d);
      split.shares.push_back({name, lanes});
    }
    for (size_t d = 0; d < held.runs.size(); ++d) {
      if (held.runs[d] == 1) continue;
      std::string name;
      if (!view.access[d].is_single_index(&name) || !work.block->find_index(name) ||
          work.block->find_index(name)->range != held.ref->shape.dims[d].size ||
          !walks_alone(name, d))
        return refuse(d);
      split.runs[name] = held.runs[d];
      if (held.vector == d) split.vector = name;
    }
    if (work.split && !(*work.split == split))
      return fmt::format("block {} would need other lanes for '{}'", work.path, held.ref->into);
    work.split = std::move(split);
    return Refusal::none();
  }

  // Notes how many groups there are, as a grid of three dimensions would count them.
  void describe_groups() const {
    cost::FlatKernel kernel;
    cost::Tile points;
    for (const Refinement& ref : group_.refs) {
      if (ref.dir == RefDir::none || ref.dir == RefDir::in || !kernel.indices.empty()) continue;
      const Affine flat = ref.flat_access();
      for (const Index& index : group_.idxs) {
        if (index.affine || index.range <= 1) continue;
        kernel.indices.push_back({index.name, index.range});
        kernel.output.strides.push_back(flat.coefficient(index.name));
        points.push_back(1);
      }
    }
    const cost::GridPlan grid = cost::plan_grid(kernel, points);
    context_.note(
        fmt::format("{}: groups in a grid [{}]", group_.name, fmt::join(grid.sizes, ", ")));
  }

  void spread(Block& parent) {
    std::vector<Statement> stmts;
    for (Statement& stmt : parent.stmts) {
      Block* block = stmt.block();
      if (block && loops_.count(block))
        spread(*block);
      else if (block && !is_for_subgroup(*block))
        give_lanes(*block, *works_[next_++].split);
      stmts.push_back(std::move(stmt));
      if (!block) continue;
      stripe::Special barrier;
      barrier.name = "barrier";
      stmts.emplace_back(stripe::Box<stripe::Special>(std::move(barrier)));
    }
    parent.stmts = std::move(stmts);
    run_in_order(parent);
  }

  void give_lanes(Block& block, const LaneSplit& split) {
    split_over_lanes(block, split, options_.lane, options_.inner_set);
    context_.count("blocks_threaded");
  }

  Block& group_;
  const Refusal order_;
  const TensorNames names_;
  const GroupLanes& options_;
  PassContext& context_;
  const LanePlanner planner_;
  std::vector<GroupWork> works_;
  std::set<const Block*> loops_;
  std::set<std::string> moved_;  // tensors of which a loop has a view that moves
  std::vector<HeldLanes> held_;
  size_t next_ = 0;
};

}  // namespace

Refusal lane_group(Block& group, PlaceNames& names, const stripe::Place& place,
                   const GroupLanes& lanes, PassContext& context) {
  Block threaded = group;
  Refusal refusal = GroupThreader(threaded, why_points_do_not_commute(group, names.around(place)),
                                  names.inside(place), lanes, context)
                        .run();
  if (!refusal) group = std::move(threaded);
  return refusal;
}

}  // namespace stria::passes
