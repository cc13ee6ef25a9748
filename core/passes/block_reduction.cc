// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/block_reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "stria/cost/register_time.h"
#include "stria/cost/tiled_block.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/index_role.h"
#include "stria/passes/located_unit.h"
#include "stria/passes/split_block.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

using Sizes = std::map<std::string, int64_t>;  // points of each index

// Cycles in which a vector of running values is brought into registers, added and stored: once in
// each part of the reduction.
constexpr double kUpdateCycles = 3;
// Vectors a cycle that come into a memory of which the model does not say it.
constexpr double kOtherMemory = 1.0 / 6;
// Cutting has to promise so much less time than leaving the reduction whole.
constexpr double kWorthCutting = 0.95;

// Bytes of the lines that a tile of these sizes reads, each tensor on its own.
double bytes_read(const Block& block, const Sizes& tile, int64_t line_bytes) {
  double bytes = 0;
  for (const Refinement& ref : block.refs) {
    if (ref.dir != RefDir::in) continue;
    const int64_t element = byte_size(ref.shape.type);
    double lines = 1, run = static_cast<double>(element);
    for (size_t d = 0; d < ref.access.size(); ++d) {
      double extent = 1;
      for (const auto& [name, coefficient] : ref.access[d].terms())
        if (auto size = tile.find(name); size != tile.end())
          extent +=
              std::abs(static_cast<double>(coefficient)) * static_cast<double>(size->second - 1);
      // Neighbours share lines.
      (ref.shape.dims[d].stride == 1 ? run : lines) *= extent;
    }
    const auto line = static_cast<double>(std::max<int64_t>(line_bytes, element));
    bytes += lines * std::ceil(run / line) * line;
  }
  return bytes;
}

bool accumulates_in_memory(const Block& block) {
  size_t written = 0;
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::in || ref.dir == RefDir::none) continue;
    ++written;
    if (!ref.agg || ref.agg->type != ref.shape.type) return false;
  }
  return written == 1 && !stores_where_chosen(block);
}

class Cutter {
 public:
  Cutter(const Block& block, const BlockReductionOptions& options, const HardwareModel& model)
      : block_(block), options_(options), roles_(index_roles(block)) {
    const MemoryUnit* memory = model.find_memory(options.memory);
    const ExecutionUnit* unit = model.find_executor(options.unit);
    limit_ = memory ? static_cast<double>(memory->size_bytes) *
                          static_cast<double>(options.percent) / 100
                    : 0;
    line_bytes_ = memory ? memory->line_bytes : 0;
    cores_ = unit ? std::max<int64_t>(unit->count, 1) : 1;
    vector_ = choose_vector(block, model, options.min_range);
    const cost::TiledBlock tiled = cost::tiled_block(block);
    const std::optional<cost::CoreRates> rates =
        cost::core_rates(model, options.unit, tiled.type, vector_.lanes);
    if (!rates) return;
    multiply_cycles_ =
        cost::points_of(tiled.ranges()) /
        (rates->multiply_adds * static_cast<double>(std::max<int64_t>(1, vector_.lanes)));
    bytes_per_cycle_ = kOtherMemory * static_cast<double>(unit->vector_bytes);
    for (const cost::CoreRates::Level& cache : rates->caches)
      if (cache.name == options.memory) bytes_per_cycle_ = std::max(cache.bytes_per_cycle, 0.1);
  }

  // The sizes of the inner block; or why there is none.
  std::string choose(Sizes& tile) {
    if (limit_ == 0) return "the model does not say how large the memory is";
    if (!accumulates_in_memory(block_)) return "running values cannot be kept in what it writes";
    if (vector_.index.empty() || vector_.reduction) return "its lanes are not outputs";
    if (std::any_of(roles_.begin(), roles_.end(),
                    [](const IndexRole& role) { return role.kind == IndexKind::overlapping; }))
      return "different points of an output index write the same element";
    if (output_vectors() <= static_cast<double>(options_.vectors * options_.rows))
      return "one register tile has all outputs: nothing is read again";
    const std::string row = row_index();
    Sizes registers;
    for (const IndexRole& role : roles_)
      registers[role.name] = role.kind == IndexKind::reduction ? role.range
                             : role.name == vector_.index
                                 ? std::min(options_.vectors * vector_.lanes, role.range)
                             : role.name == row ? std::min(options_.rows, role.range)
                                                : 1;
    if (bytes_read(block_, registers, line_bytes_) <= limit_)
      return "what a register tile reads stays in the memory";
    if (bytes_per_cycle_ == 0) return "the model does not say how many vector registers there are";
    double least = options_.only_if_shorter ? kWorthCutting * whole_cycles(registers)
                                            : std::numeric_limits<double>::infinity();
    bool any = false;
    for (const Sizes& outputs : output_parts(row)) {
      Sizes candidate = outputs;
      if (!cut_reduction(candidate)) continue;
      any = true;
      const double cycles = cycles_of(candidate);
      if (cycles >= least) continue;
      least = cycles;
      tile = std::move(candidate);
    }
    if (!any) return "parts that stay in the memory would be too short";
    return tile.empty() ? "what is read again is too little" : "";
  }

 private:
  // Running values of all outputs, in vectors.
  double output_vectors() const {
    double out = 1;
    for (const IndexRole& role : roles_)
      if (role.kind == IndexKind::output)
        out *= static_cast<double>(role.name == vector_.index ? ceil_div(role.range, vector_.lanes)
                                                              : role.range);
    return out;
  }

  // The output index of which a register tile has several values: that of the smallest stride.
  std::string row_index() const {
    const IndexRole* row = nullptr;
    for (const IndexRole& role : roles_)
      if (role.kind == IndexKind::output && role.name != vector_.index &&
          (!row || role.output_stride < row->output_stride))
        row = &role;
    return row ? row->name : "";
  }

  // Parts of the outputs to choose from: of the lanes in whole register tiles, which divide them,
  // so that copies in panels stay possible; of the others in whole rows of them.
  std::vector<Sizes> output_parts(const std::string& row) const {
    std::vector<Sizes> out;
    const int64_t most = cores_ * options_.parts_per_core;
    for (int64_t wanted = 1; wanted <= most; ++wanted) {
      Sizes tile = in_parts(row, wanted);
      if (!out.empty() && tile == out.back()) continue;
      out.push_back(std::move(tile));
    }
    const size_t whole = out.size();
    const auto lanes = std::find_if(roles_.begin(), roles_.end(), [&](const IndexRole& role) {
      return role.name == vector_.index;
    });
    const int64_t unit = options_.vectors * vector_.lanes;
    for (int64_t parts = 2; parts <= std::min(most, lanes->range / unit); ++parts) {
      if (lanes->range % (parts * unit) != 0) continue;
      for (size_t t = 0; t < whole; ++t) {
        out.push_back(out[t]);
        out.back()[lanes->name] = lanes->range / parts;
      }
    }
    return out;
  }

  // About so many parts of all outputs but the lanes, the largest stride first.
  Sizes in_parts(const std::string& row, int64_t parts) const {
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
      int64_t size = ceil_div(role->range, wanted);
      if (role->name == row) size = ceil_div(size, options_.rows) * options_.rows;
      tile[role->name] = std::min(size, role->range);
      made *= ceil_div(role->range, tile[role->name]);
    }
    return tile;
  }

  // All register tiles of these sizes, none of which finds what the one before has read.
  double whole_cycles(const Sizes& registers) const {
    double tiles = 1;
    for (const IndexRole& role : roles_)
      tiles *= static_cast<double>(ceil_div(role.range, registers.at(role.name)));
    return (multiply_cycles_ +
            tiles * bytes_read(block_, registers, line_bytes_) / bytes_per_cycle_) /
           static_cast<double>(cores_);
  }

  // Of the core that has the most to do: multiply-adds, what comes into the memory for each part
  // anew, and running values that go through memory between parts of the reduction.
  double cycles_of(const Sizes& tile) const {
    double parts = 1, steps = 1, outputs = 1;
    for (const IndexRole& role : roles_) {
      const auto count = static_cast<double>(ceil_div(role.range, tile.at(role.name)));
      (role.kind == IndexKind::reduction ? steps : parts) *= count;
      if (role.kind == IndexKind::output) outputs *= static_cast<double>(role.range);
    }
    const double comes = parts * steps * bytes_read(block_, tile, line_bytes_) / bytes_per_cycle_,
                 updates = steps > 1 ? kUpdateCycles * steps * outputs /
                                           static_cast<double>(vector_.lanes)
                                     : 0,
                 cores = static_cast<double>(cores_);
    // Cores are not equally fast: the last part of each is waited for.
    return (multiply_cycles_ + comes + updates) * (1 + (cores - 1) / parts) / cores;
  }

  // The innermost reduction indices whole, as long as what is read stays in the memory. False:
  // parts would be too short.
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
        if (bytes_read(block_, tile, line_bytes_) <= limit_) break;
      }
      tile[*name] = size;
      steps *= size;
      if (size < ranges[*name]) break;
    }
    return steps >= options_.min_steps;
  }

  const Block& block_;
  const BlockReductionOptions& options_;
  const std::vector<IndexRole> roles_;
  VectorChoice vector_;
  double limit_ = 0, multiply_cycles_ = 0, bytes_per_cycle_ = 0;
  int64_t line_bytes_ = 0, cores_ = 1;
};

}  // namespace

void describe(BlockReductionOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("inner_set", options.inner_set,
             "tags of the inner block, or of the block itself if it is not cut");
  fields.add("memory", options.memory, "memory unit of the model that is to hold what is read");
  fields.add("percent", options.percent, "of one instance of it, for what is read", {1, 100});
  fields.add("unit", options.unit, "execution unit of the model; its count is the number of cores");
  fields.add("parts_per_core", options.parts_per_core,
             "parts of the outputs for each core, at most", {1, 1 << 20});
  fields.add("vectors", options.vectors,
             "of the vector index in the register tile that follows, in vectors of the hardware",
             {1, 1 << 20});
  fields.add("rows", options.rows, "of the next output index in that tile, in points",
             {1, 1 << 20});
  fields.add("min_steps", options.min_steps, "of the reduction in a part, at least", {1});
  fields.add("only_if_shorter", options.only_if_shorter,
             "leave a reduction whole where cutting does not promise less time; false = cut it "
             "wherever one register tile reads more than the memory holds");
  fields.add("min_range", options.min_range, "shortest vector index, in points", {2});
}

Status block_reduction(stripe::Program& program, const BlockReductionOptions& options,
                       PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  return for_each_selected(program, options.reqs, [&](Block& block, const TensorNames& around) {
    context.matched();
    std::string reason = why_points_do_not_commute(block, around);
    if (block.tags.has("parallel") || block.tags.has("pipeline") || has_index_locations(block))
      reason = "its points have their places already";
    Sizes tile;
    if (reason.empty()) reason = Cutter(block, options, context.model()).choose(tile);
    Block* inner = &block;
    if (reason.empty()) {
      split_block(block, tile);
      inner = block.stmts[0].block();
      context.count("reductions_cut");
    } else {
      context.skipped(block.name, reason);
    }
    for (const std::string& tag : options.inner_set) inner->tags.set(tag);
    context.changed();
    return Status();
  });
}

}  // namespace stria::passes
