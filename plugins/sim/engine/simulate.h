// SPDX-License-Identifier: Apache-2.0
// Runs a task graph on a machine: discrete events at the starts and ends of unit operations and
// transfers, in integer ticks.
//
// * A task is ready when all that it waits for has ended. A free instance takes the ready task of
//   the lowest number that may run on it. Among several free instances the lowest takes it.
// * An operation takes its overhead and its compute ticks. It takes longer if the bytes that it
//   moves over shared channels meanwhile take longer.
// * A transfer takes the latency of its route, then as long as its bytes take.
// * At one tick all ends come first, then starts, groups in their order.
// * Loops that have become steady are skipped ahead: the timeline says what repeats itself, and how
//   often. All tasks have the same times as without skipping.
// * Bursts run the schedule that fluid buses make: each instance takes the same tasks in the same
//   order, and none before its time there. Otherwise single ticks would decide who comes first at
//   an instance, and loops that run beside each other would drift apart. Two models of buses can
//   only be compared over one schedule. If an instance waits where it does not wait in the
//   schedule, it waits for data.
//
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
  // Tasks of a piece, for a caller that takes the timeline in pieces. A loop that takes more tasks
  // than that until it repeats itself is run in full.
  uint64_t piece_records = 1'000'000;
};

// How many tasks a timeline may have in memory: 400 megabytes of them.
inline constexpr uint64_t kMostRecords = 10'000'000;

// Takes a timeline in pieces, in the order in which tasks end. A repeat lies in one piece. Later
// pieces have no task that starts before `horizon`.
using TakePiece = std::function<Status(Timeline&& piece, uint64_t horizon)>;

// out_of_range: more than 2^53 ticks, beyond which rates would lose whole ticks. With `take` all
// pieces of the timeline go there, and the result has ticks and events alone; an error of `take`
// ends the run. Without `take`, more than kMostRecords tasks that do not repeat themselves are
// out_of_range. Bursts keep the pieces of the schedule that they have not done yet: as many as they
// fall behind.
Result<Timeline> simulate(const Machine& machine, const TaskGraph& graph,
                          const SimulateOptions& options = {}, const TakePiece& take = {});

}  // namespace stria::sim
