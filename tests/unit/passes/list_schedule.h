// SPDX-License-Identifier: Apache-2.0
// How long a block's statements take together: each as soon as what it waits for is done and its
// unit is free. Small on purpose: enough to compare schedules; a simulator knows more.
//
// A block located at a transfer unit moves the bytes that it reads: over the bus into the unit and
// the one out of it, each for bytes / bytes_per_cycle, held from its start on; the unit is busy
// until the slower one is done, plus its latency. Any other block takes its operations at the peak
// of one instance of its unit. A unit number that is a constant names the instance, else any will
// do. In a #deps block statements wait for their dependencies, else for the statement before. Among
// those that could start the first one does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct StatementTime {
  double start = 0, end = 0;  // cycles
  bool transfers = false;
};

// In cycles of the model's clock.
struct Makespan {
  double cycles = 0;
  double one_at_a_time = 0;  // the sum of all statements
  // Nothing can be faster: the busiest of the units (over its instances) and buses, and the longest
  // way through the dependencies counting kernels alone.
  double at_least = 0;
  std::map<std::string, double> busy;  // "CONV", "DMA", "DRAM[0] -> DMA[0]": all its cycles
  std::vector<StatementTime> statements;
};

// not_found: a transfer that no buses carry; unsupported: a statement that is no block, or a block
// whose unit has no rate.
Result<Makespan> list_schedule(const stripe::Block& block, const HardwareModel& model);

}  // namespace stria::cost
