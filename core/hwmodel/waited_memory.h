// SPDX-License-Identifier: Apache-2.0
// Where accesses of a machine's units wait.
#pragma once

#include "stria/hwmodel/hardware_model.h"

namespace stria {

// The memory whose answers the units wait for: main memory, which is the largest one, or a cache;
// of these the one with the largest latency. So a model may give the latency and the rate of the
// cache that all units share beside the rate of main memory. nullptr: the model gives neither of
// them a latency. It lives as long as the model. Pure.
const MemoryUnit* waited_memory(const HardwareModel& model);

}  // namespace stria
