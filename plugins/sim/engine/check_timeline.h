// SPDX-License-Identifier: Apache-2.0
// What must hold of every schedule, looked at in every run, however long.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/channel_check.h"
#include "engine/unit_times.h"
#include "engine/wait_check.h"

namespace stria::sim {

// internal: the timeline breaks a rule that every schedule has to keep: a task before what it waits
// for, less time than it needs alone, or on a channel with others, two at once on one instance, not
// all tasks or some twice, more than all of the time, less time than the busiest channel or the
// longest chain needs, or more than all tasks one after another.
class TimelineCheck {
 public:
  // Both must outlive it.
  TimelineCheck(const Machine& machine, const TaskGraph& graph);

  // What comes next; later pieces have no task that starts before `horizon`.
  Status add(const Timeline& piece, uint64_t horizon);
  // `ticks`: of all.
  Status finish(uint64_t ticks);
  // After that: where the time went.
  const UnitTimes& times() const { return times_; }
  // Tasks that were looked at one by one, not as a time of a repeat that is proved.
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
