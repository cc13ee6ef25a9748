// SPDX-License-Identifier: Apache-2.0
// Rules that every schedule has to keep. Every run checks them, however long it is.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/channel_check.h"
#include "engine/unit_times.h"
#include "engine/wait_check.h"

namespace stria::sim {

// Fails with `internal` if the timeline breaks a rule:
//
// * A task starts before what it waits for has ended.
// * A task takes less time than it needs alone, or than a shared channel needs.
// * Two tasks run at once on one instance.
// * A task is missing, or runs twice.
// * The times of an instance add up to more than all of the time.
// * The whole takes less time than the busiest channel or the longest chain needs, or more than all
//   tasks one after another.
class TimelineCheck {
 public:
  // Both must outlive it.
  TimelineCheck(const Machine& machine, const TaskGraph& graph);

  // Takes the next piece. Later pieces have no task that starts before `horizon`.
  Status add(const Timeline& piece, uint64_t horizon);
  // `ticks`: of the whole timeline.
  Status finish(uint64_t ticks);
  // Where the time went; after finish().
  const UnitTimes& times() const { return times_; }
  // Tasks that were checked one by one, and not by proof as a time of a repeat.
  uint64_t looked_at() const { return waits_.looked_at(); }

 private:
  Status check_instances(const Timeline& piece);

  const Machine& machine_;
  const TaskGraph& graph_;
  WaitCheck waits_;
  ChannelCheck channels_;
  UnitTimes times_;
  std::vector<uint64_t> last_;  // end of the last task of each instance
};

// A whole timeline.
Status check_timeline(const Machine& machine, const TaskGraph& graph, const Timeline& timeline);

}  // namespace stria::sim
