// SPDX-License-Identifier: Apache-2.0
// What the tasks of a kind do, for energy and reports.
#pragma once

#include <map>
#include <string>

#include "stria/cost/block/block_work.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::sim {

// What a task of a kind does, for energy and reports.
struct KindCounts {
  std::map<std::string, double> operations;  // "mac.i8": how many
  struct Memory {
    double read_bytes = 0, written_bytes = 0;  // in whole accesses
    double reads = 0, writes = 0;              // accesses, the mean over the tasks of the kind
  };
  std::map<std::string, Memory> memories;  // "SRAM[0]"
  std::map<std::string, double> unpriced;  // operations whose energy the model does not say
  // Operands that a unit works on in global memory, access by access, as "K in DRAM[0]": bytes that
  // move.
  std::map<std::string, double> global_operands;
  double pj_operations = 0, pj_memories = 0, pj_moving = 0;
};

// Counts `bytes` of a footprint as whole accesses of the memory, as wide as its banks or its lines:
// all of it once if they are as many as it has. `part`: of the tasks, so many do it. If the memory
// moves lines, `moved` grows to whole ones; null: nothing moves.
void count_access(const HardwareModel& model, const UnitInstance& at,
                  const cost::Footprint& footprint, double bytes, bool writes, double part,
                  KindCounts& counts, double* moved);

}  // namespace stria::sim
