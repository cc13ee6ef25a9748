// SPDX-License-Identifier: Apache-2.0
// Machines and task graphs by chance: loops in loops, pipelines, sums carried from point to point,
// channels that are shared.
#pragma once

#include <cstdint>
#include <random>

#include "small_machine.h"

namespace stria::sim {

class RandomNumbers {
 public:
  explicit RandomNumbers(uint32_t seed) : random_(seed) {}
  uint64_t pick(uint64_t low, uint64_t high) { return low + random_() % (high - low + 1); }
  bool one_in(uint64_t n) { return pick(1, n) == 1; }

 private:
  std::mt19937 random_;
};

struct RandomGraph {
  Machine machine;
  TaskGraph graph;
};

// The same for the same seed.
RandomGraph random_graph(uint32_t seed);

}  // namespace stria::sim
