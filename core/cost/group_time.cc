// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/group_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/cost/memory_use.h"

namespace stria::cost {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr int64_t kFewestThreads = 32, kMostSums = 64;
constexpr int64_t kMostOutputs = 128, kMostSteps = 64;
constexpr double kMostGroupsBeside = 32;
// Elements that a lane reads from local memory at once.
constexpr double kVector = 4, kRowBytes = 16;
// Instructions that a lane issues for a vector from local memory, and for an element that it fetches and stages.
constexpr double kLoad = 4, kStaged = 5;
// And for each step, barrier included.
constexpr double kStep = 64;
// Bytes of registers of a lane besides its sums.
constexpr int64_t kOtherRegisters = 200;
// Steps' time that a group takes before its first and behind its last one.
constexpr double kEnds = 2;

struct Shape {
  double outputs = 1;    // of the tile
  double reductions = 1; // points of a step
  double groups = 1, steps = 1;
  double staged = 0;     // elements of a step
  double bytes = 0;      // that come for them
  double local_bytes = 0;  // where they are staged
  double inputs = 0;     // views that are staged
};

Shape shape_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  Shape out;
  for (size_t i = 0; i < tile.size(); ++i) {
    const double size = static_cast<double>(tile[i]);
    const double count = std::ceil(static_cast<double>(block.indices[i].range) / size);
    (block.indices[i].reduction ? out.reductions : out.outputs) *= size;
    (block.indices[i].reduction ? out.steps : out.groups) *= count;
  }
  for (const TiledView& view : block.views) {
    if (!view.reads() || view.writes()) continue;
    const double elements = elements_of(view, tile);
    out.staged += elements;
    out.local_bytes += elements * static_cast<double>(view.element_bytes);
    out.bytes += lines_of(view, tile, rates.line_bytes) * static_cast<double>(rates.line_bytes);
    out.inputs += 1;
  }
  // Rows begin at multiples of a vector.
  out.local_bytes += kRowBytes * out.inputs * out.reductions;
  return out;
}

int64_t registers_of(double sums, double staged) {
  return static_cast<int64_t>(4 * (sums + 2 * std::sqrt(sums) + staged)) + kOtherRegisters;
}

}  // namespace

std::optional<GroupRates> group_rates(const HardwareModel& model, const std::string& group,
                                      const std::string& local, const std::string& registers) {
  const ExecutionUnit* unit = model.find_executor(group);
  const MemoryUnit* shared = model.find_memory(local);
  const MemoryUnit* own = model.find_memory(registers);
  if (!unit || !shared || !own || unit->ops_per_cycle <= 0 || unit->max_threads <= 0 ||
      shared->size_bytes <= 0 || own->size_bytes <= 0 || !model.settings ||
      model.settings->threads <= 0)
    return std::nullopt;
  GroupRates out;
  out.units = static_cast<double>(std::max<int64_t>(1, unit->count));
  out.multiply_adds = unit->ops_per_cycle / (unit->operation == ExecutionUnit::Operation::mac ? 1 : 2);
  out.most_lanes = unit->max_threads;
  out.most_threads = model.settings->threads;
  out.registers = own->size_bytes * std::max<int64_t>(1, own->count / std::max<int64_t>(1, unit->count));
  out.lane_registers = own->size_bytes;
  out.local_bytes = shared->size_bytes;
  out.local_latency = shared->latency_cycles;
  if (model.settings->mem_width > 0) out.line_bytes = model.settings->mem_width;
  for (const MemoryUnit& memory : model.memories)
    if (memory.name != local && memory.name != registers && memory.latency_cycles > out.far_latency) {
      out.far_latency = memory.latency_cycles;
      out.far_bytes = memory.read_bytes_per_cycle / out.units;
    }
  return out;
}

GroupTime group_time(const TiledBlock& block, const Tile& tile, int64_t depth, const GroupRates& rates) {
  const Shape shape = shape_of(block, tile, rates);
  GroupTime best;
  best.groups = shape.groups;
  best.steps = shape.steps;
  best.local_bytes = shape.local_bytes * static_cast<double>(depth);
  best.cycles = kNone;
  for (int64_t threads = kFewestThreads; threads <= rates.most_threads; threads *= 2) {
    const double lanes = static_cast<double>(threads);
    const double sums = std::ceil(shape.outputs / lanes);
    const double staged = shape.staged / lanes;
    const int64_t registers = registers_of(sums, staged);
    if (sums > kMostSums || registers > rates.lane_registers ||
        best.local_bytes > static_cast<double>(rates.local_bytes))
      continue;
    const double held = lanes * static_cast<double>(registers);
    const double fit = std::min({std::floor(static_cast<double>(rates.registers) / held),
                                 std::floor(static_cast<double>(rates.most_lanes) / lanes),
                                 kMostGroupsBeside});
    if (fit < 1) continue;
    // Each of the views read has its side of the square that a lane's sums are.
    const double loads = shape.inputs * std::max(1.0, std::sqrt(sums) / kVector);
    const double warps = std::ceil(lanes / rates.multiply_adds);
    const double alone = rates.far_latency + shape.reductions * (rates.local_latency + sums * warps) +
                         kStaged * staged * warps;
    const double issue = (lanes * (shape.reductions * (sums + kLoad * loads) + kStep) +
                          kStaged * shape.staged) /
                         rates.multiply_adds;
    const double bytes = rates.far_bytes > 0 ? shape.bytes / rates.far_bytes : 0;
    const auto step = [&](double beside) {
      return std::max(alone + (beside - 1) * issue, beside * bytes);
    };
    const double at_once = rates.units * fit;
    const double rounds = std::floor(shape.groups / at_once);
    const double rest = std::ceil((shape.groups - rounds * at_once) / rates.units);
    const double cycles =
        (shape.steps + kEnds) * (rounds * step(fit) + (rest > 0 ? step(rest) : 0));
    if (cycles >= best.cycles) continue;
    best.threads = threads;
    best.sums = sums;
    best.beside = rounds > 0 ? fit : rest;
    best.step_cycles = step(best.beside);
    best.cycles = cycles;
  }
  return best;
}

TileSpace group_tiles(const TiledBlock& block) {
  TileSpace out;
  for (const TiledBlock::Index& index : block.indices) {
    const int64_t most = index.reduction ? kMostSteps : kMostOutputs;
    std::vector<int64_t>& sizes = out.emplace_back();
    for (int64_t size = 1; size < index.range && size <= most; size *= 2) sizes.push_back(size);
    if (index.range <= most || sizes.empty()) sizes.push_back(index.range);
  }
  return out;
}

bool all_larger_are_over(const TiledBlock& block, const Tile& tile, int64_t depth, const GroupRates& rates) {
  const Shape shape = shape_of(block, tile, rates);
  return shape.local_bytes * static_cast<double>(depth) > static_cast<double>(rates.local_bytes) ||
         shape.outputs > static_cast<double>(kMostSums * rates.most_threads);
}

std::string to_string(const GroupTime& time) {
  if (time.threads == 0) return "no number of lanes holds it";
  return fmt::format(
      "groups={:.0f} threads={} sums={:.0f} beside={:.0f} local_bytes={:.0f} steps={:.0f} "
      "step_cycles={:.0f} cycles={:.0f}",
      time.groups, time.threads, time.sums, time.beside, time.local_bytes, time.steps, time.step_cycles, time.cycles);
}

}  // namespace stria::cost
