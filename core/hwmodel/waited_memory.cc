// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/waited_memory.h"

namespace stria {

const MemoryUnit* waited_memory(const HardwareModel& model) {
  const MemoryUnit* out = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (memory.latency_cycles > (out ? out->latency_cycles : 0)) out = &memory;
  return out;
}

}  // namespace stria
