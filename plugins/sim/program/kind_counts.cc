// SPDX-License-Identifier: Apache-2.0
#include "program/kind_counts.h"

#include <algorithm>
#include <cmath>

namespace stria::sim {

void count_access(const HardwareModel& model, const UnitInstance& at,
                  const cost::Footprint& footprint, double bytes, bool writes, double part,
                  KindCounts& counts, double* moved) {
  const MemoryUnit* memory = model.find_memory(at.name);
  if (!memory || bytes <= 0 || footprint.run_bytes <= 0 || part <= 0) return;
  const auto width = static_cast<double>(std::max(memory->bank_bytes, memory->line_bytes));
  const double in_run = width > 0 ? std::ceil(footprint.run_bytes / width) : 1;
  // What comes several times, or element by element, comes in accesses as full as those of a run.
  double times = bytes == footprint.bytes
                     ? footprint.runs * in_run
                     : std::ceil(bytes / std::min(footprint.run_bytes, footprint.bytes) * in_run);
  if (width > 0) bytes = times * width;
  if (moved && memory->line_bytes > 0) *moved = std::max(*moved, std::ceil(bytes));
  times *= part;
  bytes *= part;
  KindCounts::Memory& count = counts.memories[to_string(at)];
  (writes ? count.written_bytes : count.read_bytes) += bytes;
  (writes ? count.writes : count.reads) += times;
  counts.pj_memories += bytes * (writes ? memory->write_pj_per_byte : memory->read_pj_per_byte);
}

}  // namespace stria::sim
