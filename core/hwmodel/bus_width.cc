// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/bus_width.h"

#include <set>

namespace stria {

double bus_width(const HardwareModel& model, const Bus& bus, const std::vector<UnitInstance>& ends,
                 const std::function<bool(const UnitInstance&)>& counts) {
  std::set<int64_t> links;
  for (const UnitInstance& end : ends)
    if (counts(end)) links.insert(bus.mesh ? bus.mesh->places.at({end.name, end.instance}) : 0);
  return static_cast<double>(links.size()) * bus.bytes_per_cycle * model.unit_cycles(bus.clock_mhz);
}

}  // namespace stria
