// SPDX-License-Identifier: Apache-2.0
// Who runs next, where a program lets several go on. By priorities that change at a few steps
// (Burckhardt and others, "A randomized scheduler with probabilistic guarantees of finding bugs",
// 2010): a fault that needs d switches in the right order is found with a known probability, while
// switching at every step at random hardly ever makes d long stretches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stria::interp {

// Plain value: it says a whole run again.
struct Interleaving {
  uint64_t seed = 0;  // of priorities; 0: an agent goes on until it waits, then the oldest one
  bool late = false;  // asynchronous blocks go on only where nothing else can
  std::vector<int64_t> switches;  // steps at which the agent that runs becomes the last of all
  std::string text() const;       // "seed 7, asynchronous blocks late, switches at steps 3, 18"
  bool operator==(const Interleaving&) const = default;
};

// The interleaving of that number among those that are tried one after the other; 0 is the plain
// one. `steps` is about how many a run has.
Interleaving interleaving_of(uint64_t number, int64_t steps);

// The priority of an agent before any switch; the highest goes on.
int64_t first_priority(const Interleaving& how, int agent, bool is_async);

}  // namespace stria::interp
