// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/block_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "stria/hwmodel/bus_width.h"

namespace stria::cost {
namespace {

// Operations of one instance in a cycle of the model's clock; a multiply-add is two. For a systolic
// array, those of a full one.
double peak_of(const HardwareModel& model, const ExecutionUnit& unit, DataType type) {
  const double cycles = model.unit_cycles(unit.clock_mhz);
  if (unit.systolic)
    return cycles * 2 * static_cast<double>(unit.systolic->rows) *
           static_cast<double>(unit.systolic->columns);
  auto rates = unit.rates.find(type);
  if (rates != unit.rates.end() && rates->second.ops_per_cycle > 0)
    return cycles * rates->second.ops_per_cycle;
  return cycles * unit.ops_per_cycle * (unit.operation == ExecutionUnit::Operation::mac ? 2 : 1);
}

const ExecutionUnit* fastest(const HardwareModel& model, DataType type) {
  const ExecutionUnit* out = nullptr;
  const auto all = [&](const ExecutionUnit& unit) {
    return peak_of(model, unit, type) * static_cast<double>(unit.count);
  };
  for (const ExecutionUnit& unit : model.executors)
    if (all(unit) > (out ? all(*out) : 0)) out = &unit;
  return out;
}

// The most that buses carry from one memory to another in a cycle of the model's clock: the
// narrowest of the cuts around `from`. 0: no buses lead there.
double bus_bytes_per_cycle(const HardwareModel& model, const std::string& from,
                           const std::string& to) {
  double narrowest = 0;
  std::set<std::string> reached = {from};
  while (!reached.count(to)) {
    double width = 0;
    std::set<std::string> next = reached;
    for (const Bus& bus : model.buses) {
      // What comes through another memory is not on this way.
      const double out = bus_width(model, bus, bus.sources, [&](const UnitInstance& source) {
        return reached.count(source.name) &&
               (source.name == from || !model.find_memory(source.name));
      });
      if (out == 0) continue;
      const double in = bus_width(model, bus, bus.sinks, [&](const UnitInstance& sink) {
        if (reached.count(sink.name)) return false;
        next.insert(sink.name);
        return true;
      });
      width += std::min(out, in);
    }
    if (next == reached) return 0;
    narrowest = narrowest == 0 ? width : std::min(narrowest, width);
    reached = std::move(next);
  }
  return narrowest;
}

// Cycles that the traffic takes at each of the rates that are known, and which one it waits for.
void set_cycles(const HardwareModel& model, const MemoryUnit& behind, const MemoryUnit& into,
                const ExecutionUnit* unit, DataType type, LevelTime& level) {
  const auto limit = [&](const char* name, double cycles) {
    if (cycles <= level.cycles) return;
    level.cycles = cycles;
    level.waits_for = name;
  };
  const auto at = [](double bytes, double rate) { return rate > 0 ? bytes / rate : 0; };
  const auto& [read, written] = level.traffic;
  // Both directions run at once.
  limit("buses", at(read, bus_bytes_per_cycle(model, behind.name, into.name)));
  limit("buses", at(written, bus_bytes_per_cycle(model, into.name, behind.name)));
  const double count =
      static_cast<double>(std::max<int64_t>(behind.count, 1)) * model.unit_cycles(behind.clock_mhz);
  const double write_rate =
      behind.write_bytes_per_cycle > 0 ? behind.write_bytes_per_cycle : behind.read_bytes_per_cycle;
  limit("memory", at(read, behind.read_bytes_per_cycle * count) + at(written, write_rate * count));
  if (!unit) return;
  auto rates = unit->rates.find(type);
  if (rates == unit->rates.end()) return;
  auto rate = rates->second.read_bytes_per_cycle.find(behind.name);
  if (rate != rates->second.read_bytes_per_cycle.end())
    limit("unit", at(read, rate->second * model.unit_cycles(unit->clock_mhz) *
                               static_cast<double>(std::max<int64_t>(unit->count, 1))));
}

double size_or_endless(const MemoryUnit& memory) {
  return memory.size_bytes > 0 ? static_cast<double>(memory.size_bytes)
                               : std::numeric_limits<double>::infinity();
}

// The caches and `memory` by size, then the largest memory of all.
std::vector<const MemoryUnit*> hierarchy(const HardwareModel& model, const MemoryUnit* memory) {
  std::vector<const MemoryUnit*> out;
  const MemoryUnit* home = nullptr;
  for (const MemoryUnit& unit : model.memories) {
    if (&unit != memory && (!home || size_or_endless(unit) > size_or_endless(*home))) home = &unit;
    if (&unit == memory || unit.policy == MemoryPolicy::lru) out.push_back(&unit);
  }
  std::stable_sort(out.begin(), out.end(), [](const MemoryUnit* a, const MemoryUnit* b) {
    return size_or_endless(*a) < size_or_endless(*b);
  });
  out.erase(std::remove(out.begin(), out.end(), home), out.end());
  if (home) out.push_back(home);
  return out;
}

double register_bytes_of(const TiledBlock& block, const Tile& tile, int64_t vector_bytes) {
  double out = 0;
  for (const TiledView& view : block.views)
    out += view.writes() ? elements_of(view, tile) * static_cast<double>(view.sum_bytes)
                         : static_cast<double>(std::max(vector_bytes, view.element_bytes));
  return out;
}

}  // namespace

BlockTime time_of(const TiledBlock& block, const Tile& tile, const HardwareModel& model,
                  const MemoryUnit* memory, int64_t pipeline_depth, const UnitInUse& use) {
  BlockTime out;
  out.pipeline_depth = pipeline_depth;
  out.launch_us = model.launch_us;
  const double cycles_in_us = model.clock_mhz;
  out.operations = points_of(block.ranges()) * block.operations;
  const ExecutionUnit* unit = use.unit ? use.unit : fastest(model, block.type);
  if (unit) {
    out.unit = unit->name;
    const int64_t instances = use.instances > 0 ? use.instances : unit->count;
    const auto count = static_cast<double>(std::max<int64_t>(instances, 1));
    const double tiles = output_tiles_of(block, tile), rounds = std::ceil(tiles / count);
    out.occupancy = tiles / (rounds * count);
    out.ops_per_cycle = peak_of(model, *unit, block.type) * count * out.occupancy;
    out.registers_of_unit = unit->vector_bytes * unit->vector_registers;
    out.register_bytes = register_bytes_of(block, tile, unit->vector_bytes);
    if (out.ops_per_cycle > 0 && cycles_in_us > 0)
      out.compute_us = (out.operations / out.ops_per_cycle +
                        unit->overhead_cycles / model.unit_cycles(unit->clock_mhz) *
                            std::ceil(tiles_of(block, tile) / count)) /
                       cycles_in_us;
  }
  double filling = 0, longest = out.compute_us;
  const std::vector<const MemoryUnit*> memories = hierarchy(model, memory);
  for (size_t m = 0; m + 1 < memories.size(); ++m) {
    LevelTime level;
    level.into = memories[m]->name;
    level.behind = memories[m + 1]->name;
    level.traffic = traffic_into(block, tile, *memories[m], memories[m + 1]);
    set_cycles(model, *memories[m + 1], *memories[m], unit, block.type, level);
    if (cycles_in_us > 0) level.us = level.cycles / cycles_in_us;
    if (memories[m]->policy != MemoryPolicy::lru && pipeline_depth == 1) filling += level.us;
    longest = std::max(longest, level.us);
    out.levels.push_back(std::move(level));
  }
  out.us = out.launch_us + std::max(longest, filling + out.compute_us);
  return out;
}

std::string to_string(const BlockTime& time) {
  std::string out = fmt::format(
      "operations={:.0f} unit={} ops_per_cycle={} occupancy={:.6g} register_bytes={:.0f}{} "
      "us={:.6g}",
      time.operations, time.unit.empty() ? "none" : time.unit,
      time.ops_per_cycle > 0 ? fmt::format("{:.6g}", time.ops_per_cycle) : "unknown",
      time.occupancy, time.register_bytes,
      time.registers_of_unit > 0 ? fmt::format(" of {}", time.registers_of_unit) : "",
      time.compute_us);
  for (const LevelTime& level : time.levels)
    out +=
        fmt::format("\n{} <- {}: read_bytes={:.0f} written_bytes={:.0f} waits_for={} us={:.6g}",
                    level.into, level.behind, level.traffic.read_bytes, level.traffic.written_bytes,
                    level.waits_for.empty() ? "nothing known" : level.waits_for, level.us);
  return out + fmt::format("\nlaunch_us={:.6g} pipeline_depth={} at least {:.6g} us",
                           time.launch_us, time.pipeline_depth, time.us);
}

}  // namespace stria::cost
