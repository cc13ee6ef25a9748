// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/block_reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "stria/base/refusal.h"
#include "stria/cost/block/memory_use.h"
#include "stria/cost/models/register_block.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

using Sizes = std::map<std::string, int64_t>;  // points of each index

// The time with cuts must be at most this fraction of the time without.
constexpr double kWorthCutting = 0.95;

bool accumulates_in_memory(const Block& block) {
  size_t written = 0;
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::in || ref.dir == RefDir::none) continue;
    ++written;
    if (!ref.agg || ref.agg->type != ref.shape.type) return false;
  }
  return written == 1 && !stores_where_chosen(block);
}

// A register tile, and the time of one core for a block with it, if all that it reads is in the
// memory.
struct Timed {
  cost::Tile tile;
  double cycles = 0;
};

// Keeps what was found for a block, for blocks that differ from it in names of tensors alone.
class Memo {
 public:
  template <typename Find>
  std::optional<Timed> get(cost::TiledBlock block, const cost::RegisterTiling& tiling, bool near,
                           const Find& find) {
    block.name.clear();
    for (cost::TiledView& view : block.views) view.name.clear();
    for (const Entry& entry : entries_)
      if (entry.near == near && entry.block == block && entry.tiling == tiling) return entry.found;
    std::optional<Timed> found = find();
    entries_.push_back({std::move(block), tiling, near, found});
    return found;
  }

 private:
  struct Entry {
    cost::TiledBlock block;
    cost::RegisterTiling tiling;
    bool near;
    std::optional<Timed> found;
  };
  std::vector<Entry> entries_;
};

class Cutter {
 public:
  Cutter(const stripe::Program& program, const Block& block, const BlockReductionOptions& options,
         const HardwareModel& model, Memo& memo)
      : program_(program),
        block_(block),
        model_(model),
        memo_(memo),
        options_(options),
        roles_(index_roles(block)),
        tiled_(cost::tiled_block(block)) {
    const MemoryUnit* memory = model.find_memory(options.memory);
    const ExecutionUnit* unit = model.find_executor(options.unit);
    limit_ = memory ? static_cast<double>(memory->size_bytes) *
                          static_cast<double>(options.percent) / 100
                    : 0;
    line_bytes_ = memory ? std::max<int64_t>(memory->line_bytes, 1) : 1;
    cores_ = unit ? std::max<int64_t>(unit->count, 1) : 1;
    vector_ = choose_vector(block, model, options.min_range);
  }

  // Chooses the sizes of the inner block, or refuses to cut.
  Refusal choose(Sizes& tile) {
    if (limit_ == 0) return "the model does not say how large the memory is";
    if (!accumulates_in_memory(block_)) return "running values cannot be kept in what it writes";
    if (vector_.index.empty() || vector_.reduction) return "its lanes are not outputs";
    if (std::any_of(roles_.begin(), roles_.end(),
                    [](const IndexRole& role) { return role.kind == IndexKind::overlapping; }))
      return "different points of an output index write the same element";
    Sizes all;
    for (const IndexRole& role : roles_) all[role.name] = role.range;
    if (bytes_read(all) <= limit_) return "all that it reads stays in the memory";
    find_registers();
    if (!registers_) return "the model does not say how many vector registers there are";
    const std::optional<Registers> whole = registers_for(vector_.range, false);
    if (!whole) return "no register tile fits";
    if (std::all_of(roles_.begin(), roles_.end(),
                    [&](const IndexRole& role) { return whole->tile.at(role.name) == role.range; }))
      return "one register tile has all outputs: nothing is read again";
    if (bytes_read(whole->tile) <= limit_) return "what a register tile reads stays in the memory";
    double least = options_.only_if_shorter ? kWorthCutting * whole_cycles(*whole)
                                            : std::numeric_limits<double>::infinity();
    bool any = false;
    const int64_t most = cores_ * options_.parts_per_core;
    for (int64_t parts = 1; parts <= most; ++parts) {
      // Parts have whole vectors and one size, so that copies into panels stay possible.
      if (parts > 1 && vector_.range % (parts * vector_.lanes) != 0) continue;
      const std::optional<Registers> registers = registers_for(vector_.range / parts, true);
      if (!registers) continue;
      // A tile that overhangs its part seems to write what the next part writes, and vectorize
      // would leave its running values in memory.
      if (parts > 1 && vector_.range / parts % registers->tile.at(vector_.index) != 0) continue;
      Sizes last;
      for (int64_t wanted = 1; wanted <= most; ++wanted) {
        Sizes candidate = in_parts(wanted, registers->tile);
        candidate[vector_.index] = vector_.range / parts;
        if (candidate == last) continue;
        last = candidate;
        if (!cut_reduction(candidate)) continue;
        any = true;
        const double cycles = cycles_of(candidate, registers->cycles);
        if (cycles >= least) continue;
        least = cycles;
        tile = std::move(candidate);
      }
    }
    if (!any) return "parts that stay in the memory would be too short";
    if (tile.empty()) return "what is read again is too little";
    return Refusal::none();
  }

 private:
  // Sets registers_, near_ and bytes_per_cycle_. This takes longer than the checks that refuse most
  // blocks, so it comes after them.
  void find_registers() {
    registers_ = cost::register_block(program_, block_, vector_, model_, options_.unit, true);
    if (!registers_) return;
    bytes_per_cycle_ = registers_->rates.facts.next_memory_part *
                       static_cast<double>(model_.find_executor(options_.unit)->vector_bytes);
    // What a part reads is in the memory, so the memories behind it do not affect its tiles.
    near_ = registers_->rates;
    std::vector<cost::CoreRates::Level>& caches = near_.caches;
    const auto holding = std::find_if(
        caches.begin(), caches.end(),
        [&](const cost::CoreRates::Level& cache) { return cache.name == options_.memory; });
    if (holding != caches.end()) bytes_per_cycle_ = holding->bytes_per_cycle;
    caches.erase(holding, caches.end());
  }

  // Bytes of the lines that a tile of these sizes reads; each tensor counts on its own.
  double bytes_read(const Sizes& sizes) const {
    cost::Tile tile;
    for (const cost::TiledBlock::Index& index : tiled_.indices)
      tile.push_back(sizes.at(index.name));
    double out = 0;
    for (const cost::TiledView& view : tiled_.views)
      if (view.dir == RefDir::in)
        out += cost::lines_of(view, tile, line_bytes_) * static_cast<double>(line_bytes_);
    return out;
  }

  // As Timed, with the time of all parts together.
  struct Registers {
    Sizes tile;
    double cycles = 0;
  };
  // The fastest register tile for parts of this length along the lanes. `near`: all that they read
  // is in the memory. nullopt if none fits.
  std::optional<Registers> registers_for(int64_t length, bool near) const {
    cost::TiledBlock part = tiled_;
    cost::RegisterTiling tiling = registers_->tiling;
    for (cost::TiledBlock::Index& index : part.indices)
      if (index.name == vector_.index) index.range = length;
    if (length < vector_.range)
      for (cost::PanelRule& rule : tiling.panels) rule.multiple = length;
    const std::optional<Timed> found = memo_.get(part, tiling, near, [&]() -> std::optional<Timed> {
      const std::optional<cost::Tile> tile =
          cost::fastest_register_tile(part, tiling, near ? near_ : registers_->rates);
      if (!tile) return std::nullopt;
      return Timed{*tile, cost::register_time(part, tiling, *tile, near_).cycles};
    });
    if (!found) return std::nullopt;
    Registers out;
    for (size_t i = 0; i < part.indices.size(); ++i)
      out.tile[part.indices[i].name] = found->tile[i];
    out.cycles = found->cycles * static_cast<double>(vector_.range / length);
    return out;
  }

  // Cuts all output indices except the lanes into about so many parts, those of the largest stride
  // first. Parts consist of whole register tiles.
  Sizes in_parts(int64_t parts, const Sizes& registers) const {
    Sizes tile;
    std::vector<const IndexRole*> outputs;
    for (const IndexRole& role : roles_) {
      tile[role.name] = role.range;
      if (role.kind == IndexKind::output && role.name != vector_.index) outputs.push_back(&role);
    }
    std::stable_sort(outputs.begin(), outputs.end(), [](const IndexRole* a, const IndexRole* b) {
      return a->output_stride > b->output_stride;
    });
    int64_t made = 1;
    for (const IndexRole* role : outputs) {
      const int64_t wanted = ceil_div(parts, made);
      if (wanted <= 1) break;
      const int64_t rows = registers.at(role->name),
                    size = ceil_div(ceil_div(role->range, wanted), rows) * rows;
      tile[role->name] = std::min(size, role->range);
      made *= ceil_div(role->range, tile[role->name]);
    }
    return tile;
  }

  // Time without cuts: of all register tiles, none of which finds in the memory what the one before
  // has read.
  double whole_cycles(const Registers& registers) const {
    double tiles = 1;
    for (const IndexRole& role : roles_)
      tiles *= static_cast<double>(role.range) / static_cast<double>(registers.tile.at(role.name));
    return (registers.cycles + tiles * bytes_read(registers.tile) / bytes_per_cycle_) /
           static_cast<double>(cores_);
  }

  // Time of the core that has the most to do. It is the sum of the register tiles (`compute` is
  // their time on a single core), of what comes into the memory anew for each part, and of running
  // values that go through memory between parts of the reduction.
  double cycles_of(const Sizes& tile, double compute) const {
    double parts = 1, steps = 1, outputs = 1;
    for (const IndexRole& role : roles_) {
      const auto count = static_cast<double>(ceil_div(role.range, tile.at(role.name)));
      (role.kind == IndexKind::reduction ? steps : parts) *= count;
      if (role.kind == IndexKind::output) outputs *= static_cast<double>(role.range);
    }
    const double comes = parts * steps * bytes_read(tile) / bytes_per_cycle_,
                 updates = steps > 1 ? registers_->rates.facts.update_cycles * steps * outputs /
                                           static_cast<double>(vector_.lanes)
                                     : 0,
                 cores = static_cast<double>(cores_);
    // Cores are not equally fast, so all wait for the last part of the slowest one.
    return (compute + comes + updates) * (1 + (cores - 1) / parts) / cores;
  }

  // Chooses the reduction sizes: the innermost indices stay whole, as long as what is read stays in
  // the memory. False if parts would be too short.
  bool cut_reduction(Sizes& tile) const {
    std::vector<std::string> reductions;
    for (const Index& index : block_.idxs)
      for (const IndexRole& role : roles_)
        if (role.name == index.name && role.kind == IndexKind::reduction)
          reductions.push_back(role.name);
    Sizes ranges;
    for (const std::string& name : reductions) std::swap(ranges[name], tile[name]);
    for (const std::string& name : reductions) tile[name] = 1;
    int64_t steps = 1;
    for (auto name = reductions.rbegin(); name != reductions.rend(); ++name) {
      int64_t size = ranges[*name];
      for (; size > 1; size = ceil_div(size, 2)) {
        tile[*name] = size;
        if (bytes_read(tile) <= limit_) break;
      }
      tile[*name] = size;
      steps *= size;
      if (size < ranges[*name]) break;
    }
    return steps >= options_.min_steps;
  }

  const stripe::Program& program_;
  const Block& block_;
  const HardwareModel& model_;
  Memo& memo_;
  const BlockReductionOptions& options_;
  const std::vector<IndexRole> roles_;
  const cost::TiledBlock tiled_;
  VectorChoice vector_;
  std::optional<cost::RegisterBlock> registers_;  // nullopt: the model does not say enough
  cost::CoreRates near_;                          // rates of a core that reads from the memory only
  double limit_ = 0, bytes_per_cycle_ = 0;
  int64_t line_bytes_ = 1, cores_ = 1;
};

}  // namespace

void describe(BlockReductionOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.set_tags("inner_set", options.inner_set,
                  "tags of the inner block, or of the block itself if it is not cut");
  fields.unit("memory", options.memory,
              "memory unit of the model that is to hold what a part reads");
  fields.add("percent", options.percent, "of one instance of it that may hold what a part reads",
             {1, 100});
  fields.unit("unit", options.unit,
              "execution unit of the model; its count is the number of cores");
  fields.add("parts_per_core", options.parts_per_core,
             "parts of the outputs for each core, at most", {1, 1 << 20});
  fields.add("min_steps", options.min_steps, "steps of the reduction in a part, at least", {1});
  fields.add(
      "only_if_shorter", options.only_if_shorter,
      "leave a reduction whole where cutting does not save time; false = cut it wherever one "
      "register tile reads more than the memory holds");
  fields.add("min_range", options.min_range,
             "an index with fewer points gets no lanes; 0 = the calibration of the model says");
}

Status block_reduction(stripe::Program& program, const BlockReductionOptions& options,
                       PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  Memo memo;
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames& around) {
        context.matched();
        Refusal refusal = why_points_do_not_commute(block, around);
        if (block.tags.has(stripe::tag::kParallel) || block.tags.has(stripe::tag::kPipeline) ||
            has_index_locations(block))
          refusal = "its points have their places already";
        Sizes tile;
        if (!refusal) refusal = Cutter(program, block, options, context.model(), memo).choose(tile);
        Block* inner = &block;
        if (!refusal) {
          split_block(block, tile);
          inner = block.stmts[0].block();
          context.count("reductions_cut");
        } else {
          context.skipped(block.name, refusal.reason());
        }
        inner->tags.set_all(options.inner_set);
        context.changed();
        return Status();
      });
}

}  // namespace stria::passes
