// SPDX-License-Identifier: Apache-2.0
// The least time that a tiled block takes on a hardware model (a roofline): the operations at the
// peak rate of the unit that runs them, and the bytes between each two memories at the peak rate of
// what joins them. A rate that the model does not give leaves its term out.
#pragma once

#include <string>
#include <vector>

#include "stria/cost/block/memory_use.h"

namespace stria::cost {

// The unit that runs the block.
struct UnitInUse {
  const ExecutionUnit* unit = nullptr;  // null: the one of the model with the highest peak
  int64_t instances = 0;                // how many of it; 0 = all
};

// The traffic between two memories.
struct LevelTime {
  std::string into, behind;
  Traffic traffic;
  double cycles = 0;      // 0: the model gives no rate
  std::string waits_for;  // "buses", "memory" (the one behind) or "unit", the slowest; or ""
  double us = 0;
};

struct BlockTime {
  double operations = 0;          // of all points, constraints ignored
  std::string unit;               // the unit that runs them; "" = the model has no rates
  double ops_per_cycle = 0;       // all instances at work together; 0 = not known
  double occupancy = 1;           // part of the instances that have work, over all rounds
  double register_bytes = 0;      // of a tile's sums and one vector of each operand
  int64_t registers_of_unit = 0;  // bytes; 0 = not known
  double compute_us = 0;
  std::vector<LevelTime> levels;  // the nearest memory first
  int64_t pipeline_depth = 1;
  double launch_us = 0;
  // The launch and the longest term. Without multi-buffering (pipeline_depth 1), a scratchpad is
  // filled before its tile is computed, so both times add up.
  double us = 0;
};

// `memory`: the memory that tiles are made for, null if there is none; caches are looked at
// besides. `memory` and the unit in `use` are of `model`.
BlockTime time_of(const TiledBlock& block, const Tile& tile, const HardwareModel& model,
                  const MemoryUnit* memory, int64_t pipeline_depth, const UnitInUse& use = {});

// A line for the operations, one for each level and one for the sum, without a line break at the
// end.
std::string to_string(const BlockTime& time);

}  // namespace stria::cost
