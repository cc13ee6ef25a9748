// SPDX-License-Identifier: Apache-2.0
// Where the time of each instance went: what it did, and while it did nothing, what it waited for.
// Each tick has exactly one reason, so that they add up to the whole time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/simulate.h"

namespace stria::sim {

struct InstanceTimes {
  std::array<uint64_t, kSpentKinds> ticks{};
  uint64_t tasks = 0;
  uint64_t busy() const;
  uint64_t total() const;
  uint64_t operator[](Spent spent) const { return ticks[static_cast<size_t>(spent)]; }
};

// Of each instance among all groups' instances.
std::vector<InstanceTimes> unit_times(const Machine& machine, const TaskGraph& graph,
                                      const Timeline& timeline);

// All tasks of one kind on one instance.
struct KindTimes {
  uint32_t kind = 0, instance = 0;
  uint64_t tasks = 0, ticks = 0;  // ticks: the sum of theirs
};
std::vector<KindTimes> kind_times(const Timeline& timeline);

// Ticks that a task takes with nothing else on its lanes.
uint64_t ticks_alone(const Machine& machine, const TaskKind& kind, uint32_t instance);

// The same on the instance where it takes least; of a join its compute_ticks.
uint64_t least_ticks_alone(const Machine& machine, const TaskKind& kind);

// The least ticks from the start of a graph to its end: its longest chain, loops included, with
// nothing else on the lanes.
double longest_chain(const Machine& machine, const TaskGraph& graph);

// Graphs with more tasks are not looked at task by task for what each waits for, and lanes not by
// the times in which they are in use.
inline constexpr uint64_t kMostCheckedTasks = 1'000'000;

// internal: the timeline breaks a rule that every schedule has to keep: a task before what it waits
// for, less time than it needs alone, or on a lane with others (up to kMostCheckedTasks), two at
// once on one instance, not all tasks or some twice, more than all of the time, less time than the
// busiest lane or the longest chain needs, or more than all tasks one after another.
Status check_timeline(const Machine& machine, const TaskGraph& graph, const Timeline& timeline);

}  // namespace stria::sim
