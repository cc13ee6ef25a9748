// SPDX-License-Identifier: Apache-2.0
// How much energy the tasks of a timeline take within any stretch of time of one length.
#pragma once

#include "engine/task_graph.h"
#include "engine/timeline.h"

namespace stria::sim {

// Picojoules, the most of all stretches of `window` ticks (at least 1, at most all of them). A task
// takes its energy evenly while it runs. What repeats itself is looked at as often as it takes to
// see all stretches that it has.
double most_energy(const TaskGraph& graph, const Timeline& timeline, uint64_t window);

}  // namespace stria::sim
