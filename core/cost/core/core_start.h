// SPDX-License-Identifier: Apache-2.0
// How cores that share a kernel begin: one after another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Which part of the unit's cores beside the first one are busy when so many are, from 0 to 1.
inline double busy_part(const ExecutionUnit& unit, double cores) {
  const double others = static_cast<double>(std::max<int64_t>(unit.count, 1)) - 1;
  return others > 0 ? (cores - 1) / others : 0;
}

// How much longer a core's work takes then: its rates were measured while it was alone.
inline double busy_factor(const ExecutionUnit& unit, double cores) {
  return 1 + (unit.calibration.core.kernel_busy_factor - 1) * busy_part(unit, cores);
}

// Cycles until so many cores have begun, and until it is known that they have ended.
inline double start_cycles(const ExecutionUnit& unit, double cores) {
  return unit.calibration.core.kernel_start_cycles * busy_part(unit, cores);
}

}  // namespace stria::cost
