// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/waited_memory.h"

namespace stria {
namespace {

// A size of 0 is one that nobody gave: endless.
bool is_larger(const MemoryUnit& a, const MemoryUnit& b) {
  return b.size_bytes > 0 && (a.size_bytes <= 0 || a.size_bytes > b.size_bytes);
}

}  // namespace

const MemoryUnit* waited_memory(const HardwareModel& model) {
  const MemoryUnit* main = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (!main || is_larger(memory, *main)) main = &memory;
  const MemoryUnit* out = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if ((&memory == main || memory.policy == MemoryPolicy::lru) &&
        memory.latency_cycles > (out ? out->latency_cycles : 0))
      out = &memory;
  return out;
}

}  // namespace stria
