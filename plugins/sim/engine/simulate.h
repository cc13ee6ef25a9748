// SPDX-License-Identifier: Apache-2.0
// Runs a task graph on a machine: discrete events at the starts and ends of unit operations and
// transfers, in integer ticks.
//
// * A task is ready when all that it waits for has ended. An instance that is free takes the ready
//   task of the lowest number that may run on it; of several free instances the lowest takes it.
// * An operation takes its overhead and its compute ticks, and as long as the bytes that it moves
//   over shared channels meanwhile.
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
#include <functional>

#include "engine/flow_network.h"
#include "engine/task_graph.h"
#include "engine/timeline.h"
#include "stria/base/status.h"

namespace stria::sim {

struct SimulateOptions {
  BusModel buses = BusModel::fluid;
  uint64_t burst_bytes = 256;
  bool skip_ahead = true;
  // Tasks of a piece, for who takes a timeline in pieces. A loop that takes more of them until it
  // repeats itself is run in full.
  uint64_t piece_records = 1'000'000;
};

// Tasks that a timeline may have in memory; 400 megabytes of them.
inline constexpr uint64_t kMostRecords = 10'000'000;

// Takes a timeline in pieces, in the order in which tasks end. A repeat lies in one piece. Later
// pieces have no task that starts before `horizon`.
using TakePiece = std::function<Status(Timeline&& piece, uint64_t horizon)>;

// out_of_range: more ticks than 2^53, beyond which rates would lose whole ticks.
// With `take` the timeline goes there, the last piece too, and what comes back has ticks and events
// alone; its errors end the run. Without it more than kMostRecords tasks that do not repeat
// themselves are out_of_range. Bursts keep those pieces of the schedule that they follow of which
// they have not done all, so many as they fall behind.
Result<Timeline> simulate(const Machine& machine, const TaskGraph& graph,
                          const SimulateOptions& options = {}, const TakePiece& take = {});

}  // namespace stria::sim
