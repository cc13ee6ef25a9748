// SPDX-License-Identifier: Apache-2.0
// What a bus carries at most into or out of some of the units on it.
#pragma once

#include <functional>
#include <vector>

#include "stria/hwmodel/hardware_model.h"

namespace stria {

// Bytes in a cycle of the model's clock, over all links of the bus at those of `ends` (its sources,
// or its sinks) that `counts` is true of. 0: there are none. A bus is one link, however many units
// share it; a mesh has one for each router that such units are at. Thread-safe.
double bus_width(const HardwareModel& model, const Bus& bus, const std::vector<UnitInstance>& ends,
                 const std::function<bool(const UnitInstance&)>& counts);

}  // namespace stria
