// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/machine_balance.h"

#include <algorithm>

#include "stria/hwmodel/bus_width.h"

namespace stria::cost {

double operations_per_byte(const HardwareModel& model) {
  double operations = 0;
  for (const ExecutionUnit& unit : model.executors) {
    double peak = unit.ops_per_cycle;
    for (const auto& [type, rates] : unit.rates) peak = std::max(peak, rates.ops_per_cycle);
    if (unit.operation == ExecutionUnit::Operation::mac) peak *= 2;
    if (unit.systolic)
      peak = std::max(peak, 2 * static_cast<double>(unit.systolic->rows * unit.systolic->columns));
    operations = std::max(
        operations, peak * static_cast<double>(unit.count) * model.unit_cycles(unit.clock_mhz));
  }
  const MemoryUnit* main = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (!main || memory.size_bytes > main->size_bytes) main = &memory;
  if (!main) return 0;
  double bytes = main->read_bytes_per_cycle *
                 static_cast<double>(std::max<int64_t>(main->count, 1)) *
                 model.unit_cycles(main->clock_mhz);
  if (bytes <= 0)
    for (const Bus& bus : model.buses)
      bytes += bus_width(model, bus, bus.sources,
                         [&](const UnitInstance& source) { return source.name == main->name; });
  return bytes > 0 ? operations / bytes : 0;
}

}  // namespace stria::cost
