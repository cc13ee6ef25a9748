// SPDX-License-Identifier: Apache-2.0
// The rewrite of `thread_lanes`: spreads the work of one point of a block over the lanes of a
// group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct GroupLanes {
  int64_t group_lanes = 1;            // lanes of a group; a power of two
  std::string group = "CU";           // unit of a group
  std::string lane = "LANE";          // unit of a lane
  std::string registers = "REG";      // memory unit that each lane has of its own
  std::string subgroup = "SUBGROUP";  // unit of blocks that stay as they are
  int64_t access_bytes = 1;           // of one access that neighbouring lanes should share
  int64_t run_bytes = 0;              // contiguous bytes in registers that one lane takes
  int64_t pairs = 1;  // neighbouring lanes that differ in the second index of what they hold
  std::vector<std::string> inner_set = {"lane"};  // tags of the work of one lane
};

// Makes each block inside the group a block of lanes, or leaves it a loop around such blocks. A
// barrier stands between any two of them. Allocations in `registers` are distributed to the lanes
// that use them. Notes say how. After a refusal nothing has changed.
Refusal lane_group(stripe::Block& group, PlaceNames& names, const stripe::Place& place,
                   const GroupLanes& lanes, PassContext& context);

}  // namespace stria::passes
