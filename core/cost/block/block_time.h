// SPDX-License-Identifier: Apache-2.0
// How long a tiled block takes on a hardware model at the least: the operations at the peak of the
// unit that runs them, the bytes between each two memories at the peak of what joins them. Rates
// that the model does not give leave their term out.
#pragma once

#include <string>
#include <vector>

#include "stria/cost/block/memory_use.h"

namespace stria::cost {

// What runs the block.
struct UnitInUse {
  const ExecutionUnit* unit = nullptr;  // null: the one of the model with the highest peak
  int64_t instances = 0;                // of it; 0 = all
};

// What moves between two memories.
struct LevelTime {
  std::string into, behind;
  Traffic traffic;
  double cycles = 0;      // 0: the model gives no rate
  std::string waits_for;  // "buses", "memory" (the one behind) or "unit", the slowest; or ""
  double us = 0;
};

struct BlockTime {
  double operations = 0;          // of all points, constraints ignored
  std::string unit;               // that runs them; "" = the model has no rates
  double ops_per_cycle = 0;       // all instances at work together; 0 = not known
  double occupancy = 1;           // part of the instances that have a tile, over all rounds
  double register_bytes = 0;      // of a tile's sums and one vector of each operand
  int64_t registers_of_unit = 0;  // bytes; 0 = not known
  double compute_us = 0;
  std::vector<LevelTime> levels;  // the nearest memory first
  int64_t pipeline_depth = 1;
  double launch_us = 0;
  // The launch, and the longest term; without tiles in flight (pipeline_depth 1) a memory that the
  // program manages is filled before its tile is computed, so that both times add up.
  double us = 0;
};

// `memory`: the one that tiles are for, null if there is none; caches are looked at besides. Both
// are units of `model`.
BlockTime time_of(const TiledBlock& block, const Tile& tile, const HardwareModel& model,
                  const MemoryUnit* memory, int64_t pipeline_depth, const UnitInUse& use = {});

// A line for the operations, one for each level and one for the sum, without a line break at the
// end.
std::string to_string(const BlockTime& time);

}  // namespace stria::cost
