// SPDX-License-Identifier: Apache-2.0
// How the points of a block, and the elements of an allocation in registers, are divided among the
// lanes of a group: the plan, and the rewrite of the block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// How a block's points are split over the lanes.
struct LaneSplit {
  struct Share {
    std::string index;
    int64_t lanes = 1;  // a power of two over 1
    bool operator==(const Share&) const = default;
  };
  // Neighbouring lanes come first. If an index occurs twice, its lower bits come first.
  std::vector<Share> shares;
  std::map<std::string, int64_t> runs;  // contiguous elements that a lane takes, if more than one
  std::string vector;                   // the index whose runs become vectors; "" = none
  int64_t total() const;
  // The number of lanes that earlier shares have of this share's index.
  int64_t before(size_t share) const;
  bool operator==(const LaneSplit&) const = default;
};

// An allocation of the group in registers, and how it is distributed to lanes.
struct HeldLanes {
  const stripe::Refinement* ref = nullptr;
  struct Share {
    size_t dim = 0;
    int64_t lanes = 1;
  };
  std::vector<Share> shares;  // as in LaneSplit, by dimension
  std::vector<int64_t> runs;  // by dimension
  std::optional<size_t> vector;
};

// Makes the block a block of lanes, located at the unit `lane`. The points of one lane become a
// block inside, tagged `inner_set`.
void split_over_lanes(stripe::Block& block, const LaneSplit& split, const std::string& lane,
                      const std::vector<std::string>& inner_set);

// Writes the owners into the allocation's location: a lane and a slot for each element. Returns the
// number of slots.
int64_t distribute_over_lanes(stripe::Refinement& ref, const HeldLanes& held,
                              const std::string& lane_name);

}  // namespace stria::passes
