// SPDX-License-Identifier: Apache-2.0
// Checks that the tasks of a timeline move no more bytes than channels can carry. A *use* of a
// channel is a stretch of time in which it is never idle. In that time the channel carries the
// bytes of all transfers that begin and end in it, and no more than its width allows.
//
// Of a repeat, only the first and the last times are looked at: as many as a use can reach over.
// The times between have the same uses, later. A channel that is in use through all of them has one
// long use.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/repeat_tree.h"
#include "engine/task_graph.h"
#include "engine/timeline.h"
#include "stria/base/status.h"

namespace stria::sim {

class ChannelCheck {
 public:
  // Both must outlive it.
  ChannelCheck(const Machine& machine, const TaskGraph& graph);

  // Takes the next piece of the timeline. Later pieces have no task that starts before `horizon`.
  // internal: a channel moves too much; the message says which, how much and in which time.
  Status add(const Timeline& piece, uint64_t horizon);

 private:
  struct Use {
    uint64_t begin = 0, end = 0, bytes = 0;
  };
  void add_tasks(const Timeline& piece, size_t first, size_t last,
                 const std::vector<RepeatTree>& repeats);
  void again(const Repeat& repeat, const std::vector<size_t>& from);

  const Machine& machine_;
  const TaskGraph& graph_;
  // By channel; between pieces, the uses that later pieces may join.
  std::vector<std::vector<Use>> uses_;
};

}  // namespace stria::sim
