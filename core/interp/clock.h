// SPDX-License-Identifier: Apache-2.0
// Vector clocks: what of every agent's work an agent knows to be done (Lamport, "Time, clocks, and
// the ordering of events in a distributed system", 1978; Mattern, "Virtual time and global states
// of distributed systems", 1989). An agent counts its own releases; an access made at count c
// happens before everything of an agent whose clock has c or more for its maker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stria::interp {

// By agent; missing entries are 0. Counts begin at 1.
using Clock = std::vector<uint32_t>;

inline void join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

inline bool knows(const Clock& clock, size_t agent, uint32_t count) {
  return agent < clock.size() && clock[agent] >= count;
}

}  // namespace stria::interp
