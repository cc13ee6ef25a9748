// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/vector/register_transpose.h"

#include <algorithm>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/cost/block/memory_use.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool has_chosen_coordinates(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    return (load && !load->at.empty()) || (store && !store->at.empty());
  });
}

// The two indices of a transpose. All outputs have stride 1 along `lanes`. The inputs that do not
// are listed, and have stride 1 along `across`.
struct Turn {
  std::string lanes, across;
  std::vector<std::string> inputs;
};

// Collects the inputs that have another stride than 0 or 1 along `index`. False if there are none,
// or if an output does not have stride 1.
bool inputs_across(const Block& block, const std::string& index, std::vector<std::string>& inputs) {
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) continue;
    const int64_t stride = ref.flat_access().coefficient(index);
    if (is_written(ref)) {
      if (stride != 1) return false;
    } else if (stride != 0 && stride != 1) {
      inputs.push_back(ref.into);
    }
  }
  return !inputs.empty();
}

// Finds the two indices, or refuses the kernel.
Refusal find_turn(const Block& kernel, const RegisterTransposeOptions& options, Turn& turn) {
  const std::vector<IndexRole> roles = index_roles(kernel);
  for (const IndexRole& role : roles)
    if (role.kind != IndexKind::output) return "different points write one element";
  for (const IndexRole& role : roles) {
    std::vector<std::string> inputs;
    if (role.range < options.min_range || !inputs_across(kernel, role.name, inputs)) continue;
    for (const IndexRole& other : roles) {
      if (other.name == role.name || other.range < options.min_range) continue;
      const bool all = std::all_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
        const Refinement& ref = *kernel.find_ref(name);
        return ref.flat_access().coefficient(other.name) == 1 && !ref.swizzle &&
               !ref.tags.has(stripe::tag::kClamp) && !ref.tags.has(stripe::tag::kZeroFill);
      });
      if (!all) continue;
      turn = {role.name, other.name, std::move(inputs)};
      return Refusal::none();
    }
  }
  return "no two indices lie along the outputs and along the inputs across them";
}

Refusal why_not(const Block& kernel, const TensorNames& around) {
  if (!is_leaf(kernel)) return "it holds blocks or a special";
  for (const char* tag : {stripe::tag::kVector, stripe::tag::kParallel, stripe::tag::kUnroll,
                          stripe::tag::kPipeline, stripe::tag::kDeps, stripe::tag::kStencil})
    if (kernel.tags.has(tag)) return fmt::format("it is #{}", tag);
  if (has_chosen_coordinates(kernel)) return "scalars choose elements";
  for (const Index& index : kernel.idxs)
    if (index.affine) return "an index runs from an affine form";
  for (const Refinement& ref : kernel.refs) {
    if (ref.agg) return "it aggregates";
    if (!ref.location.empty()) return "a view has its place";
  }
  return why_points_do_not_commute(kernel, around);
}

// Makes the index `lanes` the lanes of an inner block; the other indices stay in the outer block.
void make_lanes(Block& block, const std::string& lanes, const std::vector<std::string>& tile_set) {
  std::map<std::string, int64_t> tile;
  for (const Index& index : block.idxs)
    if (!index.affine && index.name != lanes) tile[index.name] = 1;
  split_block(block, tile);
  block.stmts[0].block()->tags.set(stripe::tag::kVector);
  block.tags.set_all(tile_set);
}

// A block of the same points that copies what `view` reads into the register tile.
Block copy_of(const Block& points, const Refinement& view, const Refinement& in_tile) {
  Block copy;
  copy.idxs = points.idxs;
  copy.constraints = points.constraints;
  Refinement to = in_tile;
  to.dir = RefDir::out;
  to.into = to.from;
  copy.refs = {view, std::move(to)};
  copy.stmts.emplace_back(stripe::Load{view.into, copy.fresh_name("value")});
  copy.stmts.emplace_back(
      stripe::Store{std::get<stripe::Load>(copy.stmts[0].op).into, in_tile.from});
  return copy;
}

// The number of tiles along the outputs at an outer point: options.tiles, or fewer if the rows of
// their inputs would evict each other from the cache's sets.
int64_t tiles_kept(const Block& kernel, const Turn& turn, int64_t lanes, const HardwareModel& model,
                   const RegisterTransposeOptions& options) {
  const MemoryUnit* cache = model.find_memory(options.memory);
  if (!cache || cache->ways <= 0 || cache->line_bytes <= 0) return options.tiles;
  const cost::TiledBlock block = cost::tiled_block(kernel);
  const auto places = [&](int64_t tiles) {
    cost::Tile tile;
    for (const cost::TiledBlock::Index& index : block.indices)
      tile.push_back(std::min(index.range, index.name == turn.lanes ? lanes * tiles
                                           : index.name == turn.across
                                               ? lanes * options.tiles_across
                                               : 1));
    double out = 0;
    for (const cost::TiledView& view : block.views)
      if (std::find(turn.inputs.begin(), turn.inputs.end(), view.name) != turn.inputs.end())
        out += cost::places_of(view, tile, cache->line_bytes, cost::sets_of(*cache));
    return out;
  };
  const double most = static_cast<double>(options.percent * cache->ways) / 100;
  for (int64_t tiles = options.tiles; tiles >= options.min_tiles; --tiles)
    if (places(tiles) <= most) return tiles;
  return options.tiles;
}

// How many outer points one core runs one after the other, so that there are enough such runs for
// all cores. All runs are equally long.
int64_t blocks_of(const Block& kernel, const Turn& turn, int64_t along, int64_t across,
                  const HardwareModel& model, const RegisterTransposeOptions& options) {
  int64_t most = options.blocks;
  const ExecutionUnit* unit = model.find_executor(options.unit);
  if (unit && unit->count > 1) {
    double points = 1;
    for (const Index& index : kernel.idxs)
      points *= static_cast<double>(ceil_div(index.range, index.name == turn.lanes    ? along
                                                          : index.name == turn.across ? across
                                                                                      : 1));
    const double wanted = static_cast<double>(unit->count * options.points_per_core);
    most = static_cast<int64_t>(std::clamp(points / wanted, 1.0, static_cast<double>(most)));
  }
  const int64_t all = ceil_div(kernel.find_index(turn.across)->range, across);
  return ceil_div(all, ceil_div(all, most));
}

void turn_kernel(Block& kernel, const Turn& turn, int64_t lanes, const HardwareModel& model,
                 const RegisterTransposeOptions& options) {
  // An index of one value would stay in the inner block, beside the lanes, so it is removed.
  std::map<std::string, Affine> one;
  for (const Index& index : kernel.idxs)
    if (index.range == 1) one[index.name] = Affine();
  substitute_indices(kernel, one);
  std::erase_if(kernel.idxs, [&](const Index& index) { return one.count(index.name) > 0; });
  // Cuts the two indices to these sizes; all other indices run outside.
  const auto cut = [&](Block& block, int64_t along, int64_t across) -> Block& {
    std::map<std::string, int64_t> size;
    for (const Index& index : block.idxs)
      if (!index.affine)
        size[index.name] = index.name == turn.lanes    ? along
                           : index.name == turn.across ? across
                                                       : 1;
    split_block(block, size);
    return *block.stmts[0].block();
  };
  const bool several = options.tiles > 1 || options.tiles_across > 1;
  const int64_t along = lanes * options.tiles, across = lanes * options.tiles_across;
  const int64_t blocks = blocks_of(kernel, turn, along, across, model, options);
  Block& row = blocks > 1 ? cut(kernel, along, across * blocks) : kernel;
  Block& tiles = several ? cut(row, along, across) : row;
  Block points = std::move(cut(tiles, lanes, lanes));
  // The tiles along the outputs are the innermost loop, so that stores go on in the same rows.
  if (several) {
    std::stable_partition(tiles.idxs.begin(), tiles.idxs.end(),
                          [&](const Index& index) { return index.name != turn.lanes; });
    tiles.tags.set_all(options.block_set);
  }
  tiles.stmts.clear();
  const auto range = [&](const std::string& index) { return points.find_index(index)->range; };
  for (const std::string& name : turn.inputs) {
    // The innermost block keeps the kernel's names for its views.
    Refinement& view = *points.find_ref(name);
    Refinement tile;
    tile.into = tiles.fresh_name(name + "_turned");
    tile.access.resize(2);
    tile.shape = dense_shape(view.shape.type, {range(turn.lanes), range(turn.across)});
    if (!options.registers.empty()) {
      stripe::LocationUnit unit;
      unit.name = options.registers;
      tile.location.path = {unit};
    }
    Refinement in_tile = tile;
    in_tile.dir = RefDir::in;
    in_tile.from = tile.into;
    in_tile.into = view.into;
    in_tile.access = {Affine::of(turn.lanes), Affine::of(turn.across)};
    for (Dim& dim : in_tile.shape.dims) dim.size = 1;
    Block copy = copy_of(points, view, in_tile);
    make_lanes(copy, turn.across, options.tile_set);
    tiles.stmts.emplace_back(std::move(copy));
    tiles.refs.push_back(std::move(tile));
    view = std::move(in_tile);
  }
  make_lanes(points, turn.lanes, options.tile_set);
  tiles.stmts.emplace_back(std::move(points));
}

}  // namespace

void describe(RegisterTransposeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.unit("registers", options.registers, "memory unit that holds the tile; \"\" = no location",
              WhenEmpty::none);
  fields.add("min_range", options.min_range,
             "an index with fewer points gets no lanes; 0 = the calibration of the model says");
  fields.add("tiles", options.tiles, "tiles of an outer point along the outputs", {1, 1 << 10});
  fields.unit(
      "memory", options.memory,
      "cache of the model whose sets should keep the inputs of an outer point; if they cannot, "
      "there are fewer `tiles`; \"\" = no such cache",
      WhenEmpty::none);
  fields.add("percent", options.percent, "of the places in its sets that they may take", {1, 100});
  fields.add("min_tiles", options.min_tiles,
             "if the cache cannot keep even so many, there are `tiles`", {1, 1 << 10});
  fields.add("tiles_across", options.tiles_across, "tiles of an outer point along the inputs",
             {1, 1 << 10});
  fields.add("blocks", options.blocks,
             "outer points along the inputs that one core runs one after the other, at most",
             {1, 1 << 10});
  fields.unit("unit", options.unit, "execution unit of the model that runs them");
  fields.add(
      "points_per_core", options.points_per_core,
      "runs of outer points for each instance of the unit, as far as there are so many; does "
      "not matter if there is one instance",
      {1, 1 << 10});
  fields.set_tags("tile_set", options.tile_set, "tags for the blocks around lanes");
  fields.set_tags("block_set", options.block_set,
                  "tags for the loop over the tiles of an outer point");
}

Status register_transpose(stripe::Program& program, const RegisterTransposeOptions& given,
                          PassContext& context) {
  RegisterTransposeOptions options = given;
  options.min_range = fewest_lane_points(context.model(), given.min_range);
  STRIA_RETURN_IF_ERROR(
      check_unit(context.model(), UnitUse::hold, "/registers", options.registers));
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    Refusal refusal = why_not(kernel, around);
    Turn turn;
    VectorChoice vector;
    if (!refusal) {
      vector = choose_vector(kernel, context.model(), options.min_range);
      if (vector.lanes <= 1) refusal = "the model gives no vectors";
      if (!vector.index.empty()) refusal = "it has lanes as it is";
    }
    if (!refusal) refusal = find_turn(kernel, options, turn);
    if (refusal) {
      context.skipped(kernel.name, refusal.reason());
      return Status();
    }
    RegisterTransposeOptions kept = options;
    kept.tiles = tiles_kept(kernel, turn, vector.lanes, context.model(), options);
    if (kept.tiles < options.tiles)
      context.note(fmt::format("{}: {} tiles along the outputs: {} keeps no more rows", kernel.name,
                               kept.tiles, options.memory));
    turn_kernel(kernel, turn, vector.lanes, context.model(), kept);
    context.count("kernels_turned");
    context.changed();
    return Status();
  });
}

}  // namespace stria::passes
