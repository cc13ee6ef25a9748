// SPDX-License-Identifier: Apache-2.0
// How cores that share a kernel begin: one after another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// How much longer a core's work takes when so many cores are busy: its rates were measured while it
// was alone, `kernel_busy_factor` while all were busy.
inline double busy_factor(const ExecutionUnit& unit, double cores) {
  const double others = static_cast<double>(std::max<int64_t>(unit.count, 1)) - 1;
  const double part = others > 0 ? (cores - 1) / others : 0;
  return 1 + (unit.calibration.core.kernel_busy_factor - 1) * part;
}

// Cycles until so many cores have begun, and until it is known that they have ended.
inline double start_cycles(const ExecutionUnit& unit, double cores) {
  return unit.calibration.core.kernel_core_cycles * (cores - 1);
}

}  // namespace stria::cost
