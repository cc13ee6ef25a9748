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
// Instructions that a lane issues for a vector from local memory, and for an access that fetches and
// stages.
constexpr double kLoad = 6, kStaged = 3;
// And for each step, barrier included.
constexpr double kStep = 64;
// Bytes of registers of a lane besides its sums.
constexpr int64_t kOtherRegisters = 200;
// Steps' time that a group takes before its first and behind its last one.
constexpr double kEnds = 2;

// Of one tile.
struct Counts {
  double outputs = 1;     // points of what it writes
  double reductions = 1;  // points of a step
  double groups = 1, steps = 1;
};

Counts counts_of(const TiledBlock& block, const Tile& tile) {
  Counts out;
  for (size_t i = 0; i < tile.size(); ++i) {
    const TiledBlock::Index& index = block.indices[i];
    const auto count = static_cast<double>(ceil_div(index.range, tile[i]));
    (index.reduction ? out.reductions : out.outputs) *= static_cast<double>(tile[i]);
    (index.reduction ? out.steps : out.groups) *= count;
  }
  return out;
}

bool is_staged(const TiledView& view) { return view.reads() && !view.writes(); }

// What a step brings into local memory.
struct Staged {
  double views = 0, elements = 0;
  double accesses = 0;     // of elements, or of vectors of them
  double local_bytes = 0;  // where they are staged
};

// Could rows of it be staged as vectors? They lie in a row in both memories, as the local one's rows are
// those of outputs, and begin at multiples of a vector.
bool is_in_vectors(const TiledBlock& block, const TiledView& view) {
  if (view.dims.empty() || view.dims[0].stride != 1) return false;
  for (const TiledDim::Term& term : view.dims[0].terms)
    if (block.indices[term.index].reduction || term.coefficient != 1) return false;
  for (size_t d = 1; d < view.dims.size(); ++d)
    if (view.dims[d].stride % static_cast<int64_t>(kVector) != 0) return false;
  return view.dims[0].terms.size() == 1;
}
bool is_in_vectors(const TiledBlock& block, const TiledView& view, const Tile& tile) {
  return is_in_vectors(block, view) &&
         tile[view.dims[0].terms[0].index] % static_cast<int64_t>(kVector) == 0;
}

Staged staged_by(const TiledBlock& block, const Tile& tile, double reductions) {
  Staged out;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    const double elements = elements_of(view, tile);
    out.elements += elements;
    out.accesses += elements / (is_in_vectors(block, view, tile) ? kVector : 1);
    // Rows begin at multiples of a vector.
    out.local_bytes += elements * static_cast<double>(view.element_bytes) + kRowBytes * reductions;
    out.views += 1;
  }
  return out;
}

double far_bytes_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  double out = 0;
  for (const TiledView& view : block.views)
    if (is_staged(view))
      out += lines_of(view, tile, rates.line_bytes) * static_cast<double>(rates.line_bytes);
  return out;
}

int64_t registers_of(double sums, double staged) {
  return static_cast<int64_t>(4 * (sums + 2 * std::sqrt(sums) + staged)) + kOtherRegisters;
}

// Does no dimension step over less than what those before it reach?
bool rows_lie_apart(const TiledView& view, const Tile& tile) {
  double reach = 1;
  for (const TiledDim& dim : view.dims) {
    const double size = extent(dim, tile), stride = static_cast<double>(dim.stride);
    if (size > 1 && stride < reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

// Of a tile with so many lanes in a group.
struct Lanes {
  double lanes = 0, sums = 0, loads = 0, warps = 0;
  double fit = 0;  // groups that a unit can run at once; 0: none
};

// The most that fit of tiles with at least so many outputs and staged elements.
Lanes lanes_of(double outputs, const Staged& staged, int64_t threads, const GroupRates& rates) {
  Lanes out;
  out.lanes = static_cast<double>(threads);
  out.sums = std::ceil(outputs / out.lanes);
  const int64_t registers = registers_of(out.sums, staged.elements / out.lanes);
  if (out.sums > kMostSums || registers > rates.lane_registers) return out;
  // Each of the views read has its side of the square that a lane's sums are.
  out.loads = staged.views * std::max(1.0, std::sqrt(out.sums) / kVector);
  out.warps = std::ceil(out.lanes / rates.multiply_adds);
  out.fit =
      std::min({std::floor(static_cast<double>(rates.registers) /
                           (out.lanes * static_cast<double>(registers))),
                std::floor(static_cast<double>(rates.most_lanes) / out.lanes), kMostGroupsBeside});
  return out;
}

// Cycles of a step of a group alone, and those that each further one takes of the unit.
double alone_cycles(const Lanes& of, double reductions, double staged, const GroupRates& rates) {
  return rates.far_latency + reductions * (rates.local_latency + of.sums * of.warps) +
         kStaged * staged / of.lanes * of.warps;
}
double issue_cycles(const Lanes& of, double reductions, double staged, const GroupRates& rates) {
  return (of.lanes * (reductions * (of.sums + kLoad * of.loads) + kStep) + kStaged * staged) /
         rates.multiply_adds;
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
  out.multiply_adds =
      unit->ops_per_cycle / (unit->operation == ExecutionUnit::Operation::mac ? 1 : 2);
  out.most_lanes = unit->max_threads;
  out.most_threads = model.settings->threads;
  out.registers =
      own->size_bytes * std::max<int64_t>(1, own->count / std::max<int64_t>(1, unit->count));
  out.lane_registers = own->size_bytes;
  out.local_bytes = shared->size_bytes;
  out.local_latency = shared->latency_cycles;
  if (model.settings->mem_width > 0) out.line_bytes = model.settings->mem_width;
  for (const MemoryUnit& memory : model.memories)
    if (memory.name != local && memory.name != registers &&
        memory.latency_cycles > out.far_latency) {
      out.far_latency = memory.latency_cycles;
      out.far_bytes = memory.read_bytes_per_cycle / out.units;
    }
  return out;
}

GroupTime group_time(const TiledBlock& block, const Tile& tile, int64_t depth,
                     const GroupRates& rates) {
  const Counts counts = counts_of(block, tile);
  const Staged staged = staged_by(block, tile, counts.reductions);
  GroupTime best;
  best.groups = counts.groups;
  best.steps = counts.steps;
  best.local_bytes = staged.local_bytes * static_cast<double>(depth);
  best.cycles = kNone;
  if (best.local_bytes > static_cast<double>(rates.local_bytes)) return best;
  const double bytes = rates.far_bytes > 0 ? far_bytes_of(block, tile, rates) / rates.far_bytes : 0;
  for (int64_t threads = kFewestThreads; threads <= rates.most_threads; threads *= 2) {
    const Lanes of = lanes_of(counts.outputs, staged, threads, rates);
    if (of.fit < 1) continue;
    const double alone = alone_cycles(of, counts.reductions, staged.accesses, rates);
    const double issue = issue_cycles(of, counts.reductions, staged.accesses, rates);
    const auto step = [&](double beside) {
      return std::max(alone + (beside - 1) * issue, beside * bytes);
    };
    const double at_once = rates.units * of.fit;
    const double rounds = std::floor(counts.groups / at_once);
    const double rest = std::ceil((counts.groups - rounds * at_once) / rates.units);
    const double cycles =
        (counts.steps + kEnds) * (rounds * step(of.fit) + (rest > 0 ? step(rest) : 0));
    if (cycles >= best.cycles) continue;
    best.threads = threads;
    best.sums = of.sums;
    best.beside = rounds > 0 ? of.fit : rest;
    best.step_cycles = step(best.beside);
    best.cycles = cycles;
  }
  return best;
}

double group_time_bound(const TiledBlock& block, const Tile& low, const Tile& high, int64_t depth,
                        const GroupRates& rates) {
  // So that rounding, here and in the time, never makes a bound too high.
  constexpr double kRounding = 1 - 1e-9;
  const Counts least = counts_of(block, low), most = counts_of(block, high);
  const Staged few_staged = staged_by(block, low, least.reductions);
  if (few_staged.local_bytes * static_cast<double>(depth) > static_cast<double>(rates.local_bytes))
    return kNone;
  // Of all steps of all groups, on one unit: multiply-adds, accesses that stage, cycles for their
  // bytes. A tile's share of them grows at least as its points.
  double points = 1, staged = 0, bytes = 0, few_accesses = 0;
  for (const TiledBlock::Index& index : block.indices) points *= static_cast<double>(index.range);
  points /= rates.units;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    const double elements = points * least_elements_of_point(view, low, high);
    const double together = is_in_vectors(block, view) ? kVector : 1;
    staged += elements / together;
    few_accesses += elements_of(view, low) / together;
    if (rows_lie_apart(view, high)) bytes += elements * static_cast<double>(view.element_bytes);
  }
  bytes = rates.far_bytes > 0 ? bytes / rates.far_bytes : 0;
  const double least_bytes =
      rates.far_bytes > 0 ? far_bytes_of(block, low, rates) / rates.far_bytes : 0;
  // Of one unit.
  const double groups = std::ceil(most.groups / rates.units), steps = most.steps + kEnds;
  double out = kNone;
  for (int64_t threads = kFewestThreads; threads <= rates.most_threads; threads *= 2) {
    const Lanes few = lanes_of(least.outputs, few_staged, threads, rates);
    if (few.fit < 1) continue;
    const double sums =
        std::min(std::ceil(most.outputs / few.lanes), static_cast<double>(kMostSums));
    // Rounds of `few.fit` groups: each takes what one takes alone, and `issue` for each further
    // one.
    const double rounds = std::ceil(groups / few.fit);
    const double alone = alone_cycles(few, least.reductions, few_accesses, rates),
                 issue = issue_cycles(few, least.reductions, few_accesses, rates);
    double cycles = steps * std::max({rounds * alone + (groups - rounds) * std::min(alone, issue),
                                      groups * least_bytes});
    // The same as work for all points, which tiles cut in parts, and what a round takes more.
    const double loads =
        kLoad * few_staged.views * std::max(1 / sums, 1 / (kVector * std::sqrt(sums)));
    const double work =
        (points * (1 + loads) + kStaged * staged +
         kStep * std::max(points / (sums * most.reductions), few.lanes * groups * steps)) /
        rates.multiply_adds;
    const double of_point = rates.local_latency - few.lanes * kLoad * few_staged.views *
                                                      std::max(1.0, std::sqrt(sums) / kVector) /
                                                      rates.multiply_adds;
    const double of_step = rates.far_latency - few.lanes * kStep / rates.multiply_adds;
    const double more = of_step + of_point * (of_point > 0 ? least.reductions : most.reductions);
    if (more >= 0) {
      double latency = rounds * steps * more;
      if (of_step >= 0 && of_point >= 0)
        latency = std::max(
            latency, points / (most.outputs * few.fit) * (of_point + of_step / most.reductions));
      cycles = std::max(cycles, work + latency);
    }
    out = std::min(out, std::max(cycles, bytes));
  }
  return out * kRounding;
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

bool all_larger_are_over(const TiledBlock& block, const Tile& tile, int64_t depth,
                         const GroupRates& rates) {
  const Counts counts = counts_of(block, tile);
  return staged_by(block, tile, counts.reductions).local_bytes * static_cast<double>(depth) >
             static_cast<double>(rates.local_bytes) ||
         counts.outputs > static_cast<double>(kMostSums * rates.most_threads);
}

std::string to_string(const GroupTime& time) {
  if (time.threads == 0) return "no number of lanes holds it";
  return fmt::format(
      "groups={:.0f} threads={} sums={:.0f} beside={:.0f} local_bytes={:.0f} steps={:.0f} "
      "step_cycles={:.0f} cycles={:.0f}",
      time.groups, time.threads, time.sums, time.beside, time.local_bytes, time.steps,
      time.step_cycles, time.cycles);
}

}  // namespace stria::cost
