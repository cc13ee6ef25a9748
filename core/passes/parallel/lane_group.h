// SPDX-License-Identifier: Apache-2.0
// The mechanism of `thread_lanes`: spreads what one point of a block does over the lanes of a
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
  int64_t group_lanes = 256;      // lanes of a group; a power of two
  std::string group = "CU";       // unit of a group
  std::string lane = "LANE";      // unit of a lane
  std::string registers = "REG";  // memory unit of each lane alone
  int64_t access_bytes = 32;      // that neighbouring lanes should share
  int64_t run_bytes = 0;          // in a row that one lane takes of its registers
  int64_t pairs = 1;  // neighbouring lanes that differ in the second index of what they hold
  std::vector<std::string> inner_set = {"lane"};  // tags of what one lane does
};

// Refuses a block that stays as it is. Each block inside becomes a block of lanes, or stays a loop
// around such; a barrier stands between each two of them. What is allocated in `registers` is
// distributed to the lanes that use it. Notes say how.
Refusal lane_group(stripe::Block& group, PlaceNames& names, const stripe::Place& place,
                   const GroupLanes& lanes, PassContext& context);

}  // namespace stria::passes
