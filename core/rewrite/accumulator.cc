// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/accumulator.h"

#include <algorithm>
#include <set>

#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/aggregation.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

const char* const kLane = "lane";

// How the accumulator is laid out. For each dimension of the host's view: the accumulator's own
// dimension, the lowest coordinate, and the distance of the coordinates that it holds.
struct Layout {
  TensorShape shape;
  std::vector<int> own_dim;  // -1: none, since there is only one coordinate
  std::vector<int64_t> lowest, steps;
  int lane_dim = -1;  // the dimension of lanes with partial results; -1: none
};

// The view through which the host's statement aggregates into the plan's refinement; null if it
// does not.
const Refinement* aggregating_view(const Block& host, const AccumulatorPlan& plan,
                                   size_t position) {
  const Block* inner = host.stmts[position].block();
  if (!inner || (plan.only && position != *plan.only)) return nullptr;
  const Refinement* view = find_view(*inner, plan.name);
  return view && view->agg ? view : nullptr;
}

// The place of what blocks inside the host see or hold: they do not know the host's indices.
stripe::Location inner_location(const AccumulatorPlan& plan) {
  return names_index(plan.location) ? stripe::Location{} : plan.location;
}

// Reduces `steps` to common divisors of all coordinates that the view and those inside access,
// counted from `lowest`. 0: all coordinates are 0.
void add_steps(const Block& block, const Refinement& view, const std::vector<int64_t>& lowest,
               std::vector<int64_t>& steps) {
  for (size_t d = 0; d < steps.size(); ++d)
    steps[d] = (view.access[d] - Affine(lowest[d])).common_divisor(steps[d]);
  bool leaf = true;
  for (const Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block())
      for (const Refinement& part : inner->refs)
        if (part.from == view.into && part.dir != RefDir::none) {
          leaf = false;
          add_steps(*inner, part, std::vector<int64_t>(steps.size()), steps);
        }
  for (size_t d = 0; leaf && d < steps.size(); ++d)
    if (view.shape.dims[d].size != 1) steps[d] = 1;
}

Layout make_layout(const Block& host, const AccumulatorPlan& plan, DataType type) {
  const size_t rank = host.find_ref(plan.name)->access.size();
  Layout layout;
  layout.shape.type = type;
  std::vector<int> order;  // own dimensions, outermost first; the one of lanes is last
  int lanes_last = -1;
  std::vector<Interval> ranges;
  std::vector<bool> of_lanes;
  for (size_t d = 0; d < rank; ++d) {
    Interval range;
    bool lanes = false;
    for (const WriteDomain& nest : plan.nests) {
      std::map<std::string, Interval> box;
      for (const Index& index : nest.indices) box[index.name] = {0, index.range - 1};
      Interval part = interval_of(nest.access[d], box);
      range = range.empty()
                  ? part
                  : Interval{std::min(range.lower, part.lower), std::max(range.upper, part.upper)};
      lanes = lanes || (!nest.lane.empty() && nest.access[d].uses(nest.lane));
    }
    layout.lowest.push_back(range.lower);
    ranges.push_back(range);
    of_lanes.push_back(lanes);
  }
  layout.steps.resize(rank);
  for (size_t i = 0; i < host.stmts.size(); ++i)
    if (const Refinement* view = aggregating_view(host, plan, i))
      add_steps(*host.stmts[i].block(), *view, layout.lowest, layout.steps);
  // The blocks that write the values out may walk over a finer grid, so its distances count, too.
  for (const WriteDomain& nest : plan.nests)
    for (size_t d = 0; d < rank; ++d)
      layout.steps[d] = (nest.access[d] - Affine(layout.lowest[d])).common_divisor(layout.steps[d]);
  for (size_t d = 0; d < rank; ++d) {
    layout.steps[d] = std::max<int64_t>(1, layout.steps[d]);
    if (ranges[d].lower == ranges[d].upper) {
      layout.own_dim.push_back(-1);
      continue;
    }
    int dim = static_cast<int>(layout.shape.dims.size());
    layout.own_dim.push_back(dim);
    layout.shape.dims.push_back({(ranges[d].upper - ranges[d].lower) / layout.steps[d] + 1, 0});
    // The lane index may move along two dimensions.
    if (of_lanes[d]) std::swap(lanes_last, dim);
    if (dim >= 0) order.push_back(dim);
  }
  if (plan.reduction_lanes > 0) {
    layout.lane_dim = lanes_last = static_cast<int>(layout.shape.dims.size());
    layout.shape.dims.push_back({plan.reduction_lanes, 0});
  }
  if (lanes_last >= 0) order.push_back(lanes_last);
  int64_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    layout.shape.dims[*dim].stride = stride;
    stride *= layout.shape.dims[*dim].size;
  }
  return layout;
}

// A view of the accumulator, made from the access that a block has in the host's view, or in a view
// of that.
Refinement accumulator_view(const Layout& layout, const std::string& from, const std::string& into,
                            RefDir dir, const std::vector<Affine>& access) {
  Refinement ref;
  ref.dir = dir;
  ref.from = from;
  ref.into = into;
  ref.shape = layout.shape;
  ref.access.resize(layout.shape.dims.size());
  for (Dim& dim : ref.shape.dims) dim.size = 1;
  for (size_t d = 0; d < access.size(); ++d)
    if (layout.own_dim[d] >= 0) ref.access[layout.own_dim[d]] = access[d] / layout.steps[d];
  return ref;
}

std::vector<Affine> shifted(const std::vector<Affine>& access, const std::vector<int64_t>& lowest) {
  std::vector<Affine> out = access;
  for (size_t d = 0; d < out.size(); ++d) out[d] -= lowest[d];
  return out;
}

// A view of one element of the host's refinement, at `access`.
Refinement element_view(const Block& host, const std::string& name,
                        const std::vector<Affine>& access) {
  Refinement ref = *host.find_ref(name);
  ref.dir = RefDir::out;
  ref.from = ref.into = name;
  ref.access = access;
  ref.agg.reset();
  ref.offset_bytes = 0;
  ref.swizzle.reset();
  ref.tags = {};
  // An inner block does not know the host's indices.
  if (names_index(ref.location)) ref.location = {};
  for (Dim& dim : ref.shape.dims) dim.size = 1;
  return ref;
}

// A name that neither the host nor any block inside uses.
std::string accumulator_name(const Block& host, const std::string& base) {
  std::set<std::string> taken;
  std::vector<const Block*> blocks = {&host};
  while (!blocks.empty()) {
    const Block& block = *blocks.back();
    blocks.pop_back();
    for (const Refinement& ref : block.refs) taken.insert(ref.into);
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) blocks.push_back(inner);
  }
  std::string name = host.fresh_name(base + "_acc");
  for (int i = 0; taken.count(name); ++i) name = host.fresh_name(fmt::format("{}_acc_{}", base, i));
  return name;
}

// Splits a block over all indices of a nest into an outer block and the lanes inside, and tags
// both.
void split_lanes(Block& block, const std::string& lane, const std::vector<std::string>& tile_set) {
  if (!lane.empty()) {
    std::map<std::string, int64_t> tile;
    for (const Index& index : block.idxs)
      if (!index.affine && index.name != lane) tile[index.name] = 1;
    if (!tile.empty()) {
      split_block(block, tile);
      block.stmts[0].block()->tags.set(stripe::tag::kVector);
    } else {
      block.tags.set(stripe::tag::kVector);
      return;
    }
  }
  block.tags.set_all(tile_set);
}

// Replaces one of the block's views of the tensor, and all views of it inside, by views of the
// accumulator.
void redirect(Block& block, size_t ref_position, bool outermost, const AccumulatorPlan& plan,
              const Layout& layout, const std::string& from, const stripe::Aggregation& agg) {
  const Refinement old = block.refs[ref_position];
  // The block may have two views of the tensor.
  const std::string acc = block.find_ref(from) ? block.fresh_name(from) : from;
  Refinement out = accumulator_view(layout, from, acc, RefDir::inout,
                                    outermost ? shifted(old.access, layout.lowest) : old.access);
  for (size_t d = 0; d < layout.own_dim.size(); ++d)
    if (layout.own_dim[d] >= 0)
      out.shape.dims[layout.own_dim[d]].size = (old.shape.dims[d].size - 1) / layout.steps[d] + 1;
  bool stores = false;
  for (Statement& stmt : block.stmts) {
    if (auto* store = std::get_if<stripe::Store>(&stmt.op); store && store->into == old.into) {
      store->into = acc;
      stores = true;
    }
    if (Block* inner = stmt.block())
      for (size_t i = 0; i < inner->refs.size(); ++i)
        if (inner->refs[i].from == old.into && inner->refs[i].dir != RefDir::none)
          redirect(*inner, i, false, plan, layout, acc, agg);
  }
  if (layout.lane_dim >= 0) {
    out.shape.dims[layout.lane_dim].size = stores ? 1 : plan.reduction_lanes;
    if (stores)
      for (const Index& index : block.idxs)
        if (!index.affine) out.access[layout.lane_dim] = Affine::of(index.name);
  }
  out.agg = agg;
  out.location = inner_location(plan);
  block.refs[ref_position] = std::move(out);
}

Block clear_block(const Layout& layout, const AccumulatorPlan& plan, const WriteDomain& nest,
                  const std::string& acc, const stripe::Aggregation& agg) {
  Block block;
  block.idxs = nest.indices;
  Refinement ref =
      accumulator_view(layout, acc, acc, RefDir::out, shifted(nest.access, layout.lowest));
  ref.location = inner_location(plan);
  std::string lane = nest.lane;
  if (layout.lane_dim >= 0) {
    Index index;
    index.name = lane = block.fresh_name(kLane);
    index.range = plan.reduction_lanes;
    block.idxs.push_back(index);
    ref.access[layout.lane_dim] = Affine::of(lane);
  }
  block.refs.push_back(std::move(ref));
  block.stmts.emplace_back(stripe::Constant{"identity", identity_of(agg)});
  block.stmts.emplace_back(stripe::Store{"identity", acc});
  split_lanes(block, lane, plan.tile_set);
  return block;
}

Block write_out_block(const Block& host, const Layout& layout, const AccumulatorPlan& plan,
                      const WriteDomain& nest, const std::string& acc,
                      const stripe::Aggregation& agg, RefDir dir) {
  Block block;
  block.idxs = nest.indices;
  constrain_to(block, nest);
  Refinement in =
      accumulator_view(layout, acc, acc, RefDir::in, shifted(nest.access, layout.lowest));
  in.location = inner_location(plan);
  Refinement out = element_view(host, plan.name, nest.access);
  if (!plan.plain_output) {
    out.dir = dir;
    out.agg = agg;
  }
  if (layout.lane_dim < 0) {
    block.refs = {std::move(in), std::move(out)};
    block.stmts.emplace_back(stripe::Load{acc, "value"});
    block.stmts.emplace_back(stripe::Store{"value", plan.name});
    split_lanes(block, nest.lane, plan.tile_set);
    return block;
  }
  // Partial results: the lanes of each element are combined into it.
  in.shape.dims[layout.lane_dim].size = plan.reduction_lanes;
  Block lanes;
  lanes.tags.set(stripe::tag::kVector);
  Index index;
  index.name = kLane;
  index.range = plan.reduction_lanes;
  lanes.idxs.push_back(index);
  Refinement part = in;
  part.from = part.into = acc;
  for (Affine& access : part.access) access = Affine();
  part.access[layout.lane_dim] = Affine::of(kLane);
  part.shape.dims[layout.lane_dim].size = 1;
  // A narrower output type would round after each lane, so a buffer of the aggregation type
  // collects them first.
  bool narrow = agg.type != out.shape.type;
  std::string target = plan.name;
  Refinement memory;
  if (narrow) {
    memory.into = target = acc + "_sum";
    memory.shape.type = agg.type;
    memory.location = inner_location(plan);
  }
  Refinement sum = narrow ? memory : out;
  sum.from = sum.into = target;
  for (Affine& access : sum.access) access = Affine();
  sum.agg = agg;
  if (narrow || plan.plain_output) {
    sum.dir = RefDir::inout;
    block.stmts.emplace_back(stripe::Constant{"identity", identity_of(agg)});
    block.stmts.emplace_back(stripe::Store{"identity", target});
  }
  block.refs = {std::move(in), std::move(out)};
  if (narrow) block.refs.push_back(std::move(memory));
  lanes.refs = {std::move(part), std::move(sum)};
  lanes.stmts.emplace_back(stripe::Load{acc, "value"});
  lanes.stmts.emplace_back(stripe::Store{"value", target});
  block.stmts.emplace_back(std::move(lanes));
  if (narrow) {
    block.stmts.emplace_back(stripe::Load{target, "value"});
    block.stmts.emplace_back(stripe::Store{"value", plan.name});
  }
  block.tags.set_all(plan.tile_set);
  return block;
}

}  // namespace

TensorShape accumulator_shape(const Block& host, const AccumulatorPlan& plan) {
  for (size_t i = 0; i < host.stmts.size(); ++i)
    if (const Refinement* view = aggregating_view(host, plan, i))
      return make_layout(host, plan, view->agg->type).shape;
  STRIA_CHECK(false, "nothing aggregates into '{}'", plan.name);
}

void add_accumulator(Block& host, const AccumulatorPlan& plan) {
  const auto aggregates = [&](size_t i) {
    return const_cast<Refinement*>(aggregating_view(host, plan, i));  // the host may be changed
  };
  size_t first = host.stmts.size(), last = 0;
  for (size_t i = 0; i < host.stmts.size(); ++i)
    if (aggregates(i)) {
      first = std::min(first, i);
      last = i;
    }
  STRIA_CHECK(first <= last, "nothing aggregates into '{}'", plan.name);
  const Refinement view = *aggregates(first);
  stripe::Aggregation agg = *view.agg;
  Layout layout = make_layout(host, plan, agg.type);
  std::string acc = accumulator_name(host, plan.name);
  std::string base = host.stmts[first].block()->name;

  std::vector<Statement> stmts;
  auto add = [&](Block block, const char* what) {
    if (host.tags.has(stripe::tag::kMain)) {
      block.tags.set(stripe::tag::kKernel);
      block.name = base + what;
    }
    stmts.emplace_back(std::move(block));
  };
  for (size_t i = 0; i < host.stmts.size(); ++i) {
    if (i == first)
      for (const WriteDomain& nest : plan.nests)
        add(clear_block(layout, plan, nest, acc, agg), "_clear");
    if (Refinement* ref = aggregates(i)) {
      Block& inner = *host.stmts[i].block();
      redirect(inner, static_cast<size_t>(ref - inner.refs.data()), true, plan, layout, acc, agg);
    }
    stmts.push_back(std::move(host.stmts[i]));
    if (i == last)
      for (const WriteDomain& nest : plan.nests)
        add(write_out_block(host, layout, plan, nest, acc, agg, view.dir), "_write_out");
  }
  host.stmts = std::move(stmts);
  run_in_order(host);

  Refinement memory;
  memory.into = acc;
  memory.access.resize(layout.shape.dims.size());
  memory.shape = layout.shape;
  memory.location = plan.location;
  host.refs.push_back(std::move(memory));
}

bool writes_each_element_once(const std::vector<const Block*>& path, const std::string& name) {
  std::string view = name;
  for (size_t level = path.size(); level-- > 0;) {
    const Refinement* ref = path[level]->find_ref(view);
    if (!ref || ref->dir == RefDir::none) return ref != nullptr;
    if (ref->dir != RefDir::out) return false;
    for (const IndexRole& role : index_roles(*path[level]))
      if (role.kind != IndexKind::output) return false;
    view = ref->from;
  }
  return true;
}

void drop_aggregation(const std::vector<Block*>& path, const std::string& name) {
  std::string view = name;
  for (size_t level = path.size(); level-- > 0;) {
    Refinement* ref = path[level]->find_ref(view);
    if (!ref) return;
    ref->agg.reset();
    if (ref->dir == RefDir::none) return;
    view = ref->from;
  }
}

Block identity_block(const Block& host, const std::string& name, const WriteDomain& nest,
                     const stripe::Aggregation& agg) {
  Block block;
  block.idxs = nest.indices;
  constrain_to(block, nest);
  std::vector<Affine> access;
  for (const Affine& form : nest.access)
    access.push_back(form.rename([&](const std::string& index) {
      return host.find_index(index) ? bring_in(block, index) : index;
    }));
  block.refs.push_back(element_view(host, name, access));
  block.stmts.emplace_back(stripe::Constant{"identity", identity_of(agg)});
  block.stmts.emplace_back(stripe::Store{"identity", name});
  split_lanes(block, nest.lane, {});
  return block;
}

}  // namespace stria::passes
