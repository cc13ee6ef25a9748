// SPDX-License-Identifier: Apache-2.0
// Where the time of each instance went: what it did, and while it did nothing, what it waited for.
// Each tick has exactly one reason, so that they add up to the whole time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/simulate.h"

namespace stria::sim {

enum class Spent : uint8_t {
  compute,     // operations
  overhead,    // fill and drain of operations
  memory,      // beyond that, until the operands' bytes had moved
  latency,     // of transfers
  moving,      // bytes of transfers, as long as they take alone
  contention,  // beyond that: others had the lanes
  data,        // waited for a transfer
  dependency,  // waited for an operation
  slot,        // waited for a point of the pipeline to make room
  no_work,     // nothing was left to do, or asked for
};
inline constexpr size_t kSpentKinds = 10;
std::string_view name_of(Spent spent);
// Those during which it worked.
inline bool is_busy(Spent spent) { return spent <= Spent::contention; }

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

// Ticks that a task takes with nothing else on its lanes.
uint64_t ticks_alone(const Machine& machine, const TaskKind& kind, uint32_t instance);

// The same on the instance where it takes least; of a join its compute_ticks.
uint64_t least_ticks_alone(const Machine& machine, const TaskKind& kind);

// internal: the timeline breaks a rule that every schedule has to keep: a task before what it waits
// for, two at once on one instance, more than all of the time, less time than the busiest lane or
// the longest chain needs, or more than all tasks one after another.
Status check_timeline(const Machine& machine, const TaskGraph& graph, const Timeline& timeline);

}  // namespace stria::sim
