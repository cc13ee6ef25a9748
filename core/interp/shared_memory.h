// SPDX-License-Identifier: Apache-2.0
// Memory that several agents see: its elements; who read and wrote each of them last; and phase
// barriers (S16). Two accesses to one element, one of which writes, are a race if neither happens
// before the other, whatever order a run has given them (Flanagan and Freund, "FastTrack",
// 2009). So a race shows in any run in which both accesses are made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/agent.h"
#include "stria/interp/memory.h"

namespace stria::interp {

enum class Touch : uint8_t { load, store, combine, free };

struct SharedAccess {
  int agent = -1;
  uint32_t count = 0;  // of its agent's releases
  Touch touch = Touch::load;
  const Aggregating* into = nullptr;  // of a combination
  const BlockPlan* block = nullptr;
};

using Agents = std::vector<std::unique_ptr<Agent>>;

struct PhaseBarrier {
  int64_t complete = 0;  // phases
  int64_t arrived = 0;   // at the next one
  Clock done;            // what is known once that many phases are complete
  Clock pending;         // what those who have arrived at the next phase know
};

struct SharedMemory {
  Buffer own;
  Buffer* buffer = nullptr;  // `own`, or a tensor of the program
  std::string name;
  int64_t arrivals = 0;  // that complete a phase, if these are barriers
  std::unordered_map<int64_t, PhaseBarrier> barriers;
  bool unordered_combinations = false;  // into one element, by agents of which none waits

  // Records that `agent` touches the element in `block`; a race with what others did is an error.
  // `all` are the agents by their numbers.
  Status touch(const Agents& all, const Agent& agent, int64_t offset, Touch how,
               const Aggregating* into, const BlockPlan& block);
  // The allocation ends, at the end of a point of `block`: nobody may touch it any more.
  Status end(const Agents& all, const Agent& agent, const BlockPlan& block);

 private:
  struct Seen {
    SharedAccess write;                // agent -1: none
    std::vector<SharedAccess> others;  // loads, or combinations into the same, since then
  };
  std::unordered_map<int64_t, Seen> seen_;
};

}  // namespace stria::interp
