// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/block_reduction.h"

#include <algorithm>
#include <cmath>
#include <map>

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
    parts_ = options.parts_per_core * (unit ? std::max<int64_t>(unit->count, 1) : 1);
    vector_ = choose_vector(block, model, options.min_range);
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
    cut_outputs(row, tile);
    return cut_reduction(tile);
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

  // Parts of the outputs for all cores, the largest stride first; whole register tiles.
  void cut_outputs(const std::string& row, Sizes& tile) const {
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
      const int64_t wanted = ceil_div(parts_, made);
      if (wanted <= 1) break;
      int64_t size = ceil_div(role->range, wanted);
      if (role->name == row) size = ceil_div(size, options_.rows) * options_.rows;
      tile[role->name] = std::min(size, role->range);
      made *= ceil_div(role->range, tile[role->name]);
    }
  }

  // The innermost reduction indices whole, as long as what is read stays in the memory.
  std::string cut_reduction(Sizes& tile) const {
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
    return steps >= options_.min_steps ? "" : "parts that stay in the memory would be too short";
  }

  const Block& block_;
  const BlockReductionOptions& options_;
  const std::vector<IndexRole> roles_;
  VectorChoice vector_;
  double limit_ = 0;
  int64_t line_bytes_ = 0, parts_ = 1;
};

}  // namespace

void describe(BlockReductionOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("inner_set", options.inner_set,
             "tags of the inner block, or of the block itself if it is not cut");
  fields.add("memory", options.memory, "memory unit of the model that is to hold what is read");
  fields.add("percent", options.percent, "of one instance of it, for what is read", {1, 100});
  fields.add("unit", options.unit, "execution unit of the model; its count is the number of cores");
  fields.add("parts_per_core", options.parts_per_core, "parts of the outputs for each core",
             {1, 1 << 20});
  fields.add("vectors", options.vectors,
             "of the vector index in the register tile that follows, in vectors of the hardware",
             {1, 1 << 20});
  fields.add("rows", options.rows, "of the next output index in that tile, in points",
             {1, 1 << 20});
  fields.add("min_steps", options.min_steps, "of the reduction in a part, at least", {1});
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
