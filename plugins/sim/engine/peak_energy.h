// SPDX-License-Identifier: Apache-2.0
// The most energy that the tasks of a timeline take within any stretch of time of one length.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/task_graph.h"
#include "engine/timeline.h"

namespace stria::sim {

class PeakEnergy {
 public:
  // Windows of so many ticks, 1 at least. `graph` must outlive it.
  PeakEnergy(const TaskGraph& graph, uint64_t window);

  // Takes the next piece of the timeline. Later pieces have no task that starts before `horizon`.
  void add(const Timeline& piece, uint64_t horizon);
  // The most picojoules in any window, after all pieces. A task takes its energy evenly while it
  // runs. A repeat is looked at as many times as it takes to see every different window.
  double most();

 private:
  struct Step {
    uint64_t at;
    int64_t rate;  // the change of the rate from then on
  };
  void look_until(uint64_t limit);

  const TaskGraph& graph_;
  const uint64_t window_;
  std::vector<Step> steps_;  // those before in_ are in order
  size_t in_ = 0, out_ = 0;  // the next steps at the end and at the beginning of the window
  int64_t most_ = 0, energy_ = 0, rate_in_ = 0, rate_out_ = 0;
  uint64_t end_ = 0;  // of the window; it begins `window` before
};

// Of a whole timeline.
double most_energy(const TaskGraph& graph, const Timeline& timeline, uint64_t window);

}  // namespace stria::sim
