// SPDX-License-Identifier: Apache-2.0
// Runs a task graph on a machine: discrete events at the starts and ends of unit operations and
// transfers, in integer ticks.
//
// * A task is ready when all that it waits for has ended. An instance that is free takes the ready
//   task of the lowest number that may run on it; of several free instances the lowest takes it.
// * An operation takes its overhead and its compute ticks, and as long as the bytes that it moves
//   over shared lanes meanwhile.
// * A transfer takes the latency of its way, then as long as its bytes take.
// * At one tick all ends come first, then starts, groups in their order.
// * Loops that have become steady are skipped ahead: the timeline says what repeats itself how
//   often. All tasks have the times that they have without.
// * Bursts run the schedule that fluid buses make: each instance takes the same tasks in the same
//   order, none before its time there. Who comes first at an instance hangs on single ticks, and
//   loops that run beside each other drift apart from less; two models of buses can be compared
//   only over one schedule. An instance that waits where it does not in the schedule waits for
//   data.
// The same input gives the same times, on every machine.
#pragma once

#include <cstdint>

#include "engine/flow_network.h"
#include "engine/task_graph.h"
#include "engine/timeline.h"
#include "stria/base/status.h"

namespace stria::sim {

struct SimulateOptions {
  BusModel buses = BusModel::fluid;
  uint64_t burst_bytes = 256;
  bool skip_ahead = true;
};

// Tasks that are looked at one by one; 400 megabytes of them.
inline constexpr uint64_t kMostRecords = 10'000'000;

// out_of_range: more ticks than 2^53, beyond which rates would lose whole ticks; more than
// kMostRecords tasks that do not repeat themselves.
Result<Timeline> simulate(const Machine& machine, const TaskGraph& graph,
                          const SimulateOptions& options = {});

}  // namespace stria::sim
