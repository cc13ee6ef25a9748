// SPDX-License-Identifier: Apache-2.0
// How much energy the tasks of a timeline take within any stretch of time of one length.
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

  // What comes next of the timeline; later pieces have no task that starts before `horizon`.
  void add(const Timeline& piece, uint64_t horizon);
  // After all of it: the most picojoules that any window has. A task takes its energy evenly while
  // it runs. What repeats itself is looked at as often as it takes to see all windows that it has.
  double most();

 private:
  struct Step {
    uint64_t at;
    int64_t rate;  // by so much more from then on
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
