// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/machine_roles.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "stria/hwmodel/bus_width.h"

namespace stria {
namespace {

// Bytes that go from one unit to another in a cycle of the model's clock, by their names, over all
// buses between their instances.
using Neighbours = std::map<std::string, std::map<std::string, double>>;

// `backward`: by where they go to.
Neighbours neighbours(const HardwareModel& model, bool backward) {
  Neighbours out;
  const auto width = [&](const Bus& bus, const std::vector<UnitInstance>& ends,
                         const std::string& unit) {
    return bus_width(model, bus, ends, [&](const UnitInstance& end) { return end.name == unit; });
  };
  for (const Bus& bus : model.buses) {
    std::set<std::string> sources, sinks;
    for (const UnitInstance& end : bus.sources) sources.insert(end.name);
    for (const UnitInstance& end : bus.sinks) sinks.insert(end.name);
    for (const std::string& source : sources)
      for (const std::string& sink : sinks)
        (backward ? out[sink][source] : out[source][sink]) +=
            std::min(width(bus, bus.sources, source), width(bus, bus.sinks, sink));
  }
  return out;
}

// The transfer units that the memory reaches over buses and other transfer units (C5), each with
// the bytes of the narrowest bus on the shortest way. Every bus is looked at once.
std::map<std::string, double> reached(const HardwareModel& model, const Neighbours& from,
                                      const std::string& memory) {
  std::map<std::string, double> out;
  std::deque<std::string> next = {memory};
  for (; !next.empty(); next.pop_front()) {
    const auto ways = from.find(next.front());
    if (ways == from.end()) continue;
    const auto here = out.find(next.front());
    const double width = here == out.end() ? std::numeric_limits<double>::infinity() : here->second;
    for (const auto& [to, bytes] : ways->second)
      if (bytes > 0 && model.find_transfer(to) && out.emplace(to, std::min(width, bytes)).second)
        next.push_back(to);
  }
  return out;
}

// What a transfer unit moves between the main memory and another one, in the slower direction.
struct Filling {
  std::string memory, transfer;
  double bytes = 0;
};
std::vector<Filling> fillings(const HardwareModel& model, const std::string& main) {
  const Neighbours forward = neighbours(model, false), backward = neighbours(model, true);
  const std::map<std::string, double> brought = reached(model, forward, main),
                                      taken = reached(model, backward, main);
  std::vector<Filling> out;
  for (const auto& [transfer, in] : brought) {
    const auto away = taken.find(transfer);
    const auto to = forward.find(transfer), from = backward.find(transfer);
    if (away == taken.end() || to == forward.end() || from == backward.end()) continue;
    for (const auto& [memory, bytes] : to->second)
      if (const auto back = from->second.find(memory); back != from->second.end())
        out.push_back({memory, transfer, std::min({in, away->second, bytes, back->second})});
  }
  return out;
}

// In a cycle of the model's clock; a multiply-add is two operations.
double operations(const HardwareModel& model, const ExecutionUnit& unit, bool products) {
  const double clock = model.unit_cycles(unit.clock_mhz), count = static_cast<double>(unit.count);
  if (products && unit.systolic)
    return 2 * count * clock * static_cast<double>(unit.systolic->rows * unit.systolic->columns);
  const bool by_macs = products && unit.operation == ExecutionUnit::Operation::mac;
  double most = by_macs ? 2 * unit.ops_per_cycle : unit.ops_per_cycle;
  for (const auto& [type, rates] : unit.rates) most = std::max(most, rates.ops_per_cycle);
  return count * clock * most;
}

const ExecutionUnit* best(const HardwareModel& model, bool products, const ExecutionUnit* beside) {
  const ExecutionUnit* out = nullptr;
  for (const ExecutionUnit& unit : model.executors) {
    if (&unit == beside || operations(model, unit, products) <= 0) continue;
    if (!out || operations(model, unit, products) > operations(model, *out, products)) out = &unit;
  }
  return out;
}

}  // namespace

MachineRoles roles_of(const HardwareModel& model) {
  MachineRoles out;
  const MemoryUnit *main = nullptr, *scratchpad = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (memory.policy != MemoryPolicy::lru && (!main || memory.size_bytes > main->size_bytes))
      main = &memory;
  if (main) {
    out.main = main->name;
    double widest = 0;
    for (const Filling& filling : fillings(model, main->name)) {
      const MemoryUnit* memory = model.find_memory(filling.memory);
      if (!memory || memory == main || memory->policy == MemoryPolicy::lru) continue;
      if (memory->size_bytes <= 0 || filling.bytes <= 0) continue;
      const bool nearer = !scratchpad || memory->size_bytes < scratchpad->size_bytes;
      if (!nearer && (memory != scratchpad || filling.bytes <= widest)) continue;
      scratchpad = memory;
      widest = filling.bytes;
      out.transfer = filling.transfer;
    }
    if (scratchpad) out.scratchpad = scratchpad->name;
  }
  const ExecutionUnit* products = best(model, true, nullptr);
  const ExecutionUnit* rest = best(model, false, products);
  if (products) out.products = products->name;
  if (rest || products) out.rest = (rest ? rest : products)->name;
  return out;
}

nlohmann::json roles_json(const MachineRoles& roles) {
  return {{"main", roles.main},
          {"scratchpad", roles.scratchpad},
          {"transfer", roles.transfer},
          {"products", roles.products},
          {"rest", roles.rest}};
}

}  // namespace stria
