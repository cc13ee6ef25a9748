// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/machine_roles.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "stria/hwmodel/bus_ways.h"

namespace stria {
namespace {

// Bytes that the unit's instances bring in a cycle; 0: there is no way.
double bytes_per_cycle(const HardwareModel& model, const TransferUnit& unit, const MemoryUnit& from,
                       const MemoryUnit& to) {
  const BusMap map(model);
  const BusReach reach(map, UnitInstance{from.name});
  double out = 0;
  for (const int64_t i : instances_on_buses(model, unit.name)) {
    const Result<TransferWay> way = transfer_way(map, reach, {unit.name, i}, UnitInstance{to.name});
    if (!way.ok()) continue;
    double narrowest = std::numeric_limits<double>::infinity();
    for (const auto* buses : {&way->in, &way->out})
      for (const size_t bus : *buses)
        narrowest = std::min(narrowest, model.buses[bus].bytes_per_cycle);
    out += narrowest;
  }
  return out;
}

// In a cycle of the model's clock; a multiply-add is two operations.
double operations(const HardwareModel& model, const ExecutionUnit& unit, bool products) {
  const double clock = model.unit_cycles(unit.clock_mhz), count = static_cast<double>(unit.count);
  if (products && unit.systolic)
    return 2 * count * clock * static_cast<double>(unit.systolic->rows * unit.systolic->columns);
  double most = unit.ops_per_cycle;
  if (products)
    for (const auto& [type, rates] : unit.rates) most = std::max(most, rates.ops_per_cycle);
  const double each =
      products && unit.operation == ExecutionUnit::Operation::mac ? 2 * most : most;
  return count * clock * each;
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
    for (const MemoryUnit& memory : model.memories) {
      if (&memory == main || memory.policy == MemoryPolicy::lru || memory.size_bytes <= 0) continue;
      if (scratchpad && memory.size_bytes > scratchpad->size_bytes) continue;
      for (const TransferUnit& unit : model.transfers) {
        const double bytes = std::min(bytes_per_cycle(model, unit, *main, memory),
                                      bytes_per_cycle(model, unit, memory, *main));
        if (bytes <= 0 || (scratchpad == &memory && bytes <= widest)) continue;
        scratchpad = &memory;
        widest = bytes;
        out.transfer = unit.name;
      }
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
