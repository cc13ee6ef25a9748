// SPDX-License-Identifier: Apache-2.0
// Where accesses of a machine's units wait.
#pragma once

#include "stria/hwmodel/hardware_model.h"

namespace stria {

// The memory whose answers the units wait for, as its latency is the largest: main memory, or a
// cache before it that all units share and whose latency and rate the model gives. nullptr: the
// model gives no latency. It lives as long as the model. Pure.
const MemoryUnit* waited_memory(const HardwareModel& model);

}  // namespace stria
