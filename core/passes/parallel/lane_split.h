// SPDX-License-Identifier: Apache-2.0
// How lanes of a group share out the points of a block, and the elements of what they hold: what is
// planned, and the change of the block.
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
  // Neighbouring lanes first. An index may come again: first by its lower bits.
  std::vector<Share> shares;
  std::map<std::string, int64_t> runs;  // elements in a row that a lane takes, where more than one
  std::string vector;                   // the index whose runs become lanes of vectors; "" = none
  int64_t total() const;
  // The lanes of a share's index in the shares before it.
  int64_t before(size_t share) const;
  bool operator==(const LaneSplit&) const = default;
};

// An allocation of the group in registers.
struct HeldLanes {
  const stripe::Refinement* ref = nullptr;
  struct Share {
    size_t dim = 0;
    int64_t lanes = 1;
  };
  std::vector<Share> shares;  // as those of a split
  std::vector<int64_t> runs;  // of each dimension
  std::optional<size_t> vector;
};

// Makes the block one of lanes: its points become those of the lanes, in a block inside tagged
// `inner_set`, and its location the unit `lane`.
void split_over_lanes(stripe::Block& block, const LaneSplit& split, const std::string& lane,
                      const std::vector<std::string>& inner_set);

// Gives the unit that the allocation lies in its owners: each lane, and a slot of it. How many
// slots.
int64_t distribute_over_lanes(stripe::Refinement& ref, const HeldLanes& held,
                              const std::string& lane_name);

}  // namespace stria::passes
