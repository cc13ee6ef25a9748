// SPDX-License-Identifier: Apache-2.0
// Calibrations that no machine has: what costs prove holds for each of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "stria/hwmodel/calibration.h"

namespace stria {

// Each number from its lowest to a few times its default. Seed 0: the defaults.
inline UnitCalibration drawn_calibration(uint32_t seed) {
  UnitCalibration out;
  if (seed == 0) return out;
  std::mt19937 dice(seed);
  for (const CalibrationFact& fact : calibration_facts()) {
    const double part = static_cast<double>(dice() % 1001) / 1000;
    // Of what is 0 by default any size may be fitted.
    const double highest = std::min(fact.highest, fact.initial == 0 ? 100 : 4 * fact.initial + 1);
    const double value = fact.lowest + part * (highest - fact.lowest);
    fact.in(out) = fact.whole ? std::floor(value) : value;
  }
  return out;
}

}  // namespace stria
