// SPDX-License-Identifier: Apache-2.0
// Whether the tasks of a timeline move their bytes over channels that are wide enough: while a channel is
// in use without a break, it carries all that begins and ends in that time, and no more than it is
// wide.
//
// Of a repeat the first and the last times are looked at, as many as a use can reach over. Those
// between are the same ones later; together they are one use of the channel, which finds a channel that
// is in use without a break through all of them.
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

  // What comes next of the timeline; later pieces have no task that starts before `horizon`.
  // internal: which channel moves how much in which time.
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
  std::vector<std::vector<Use>> uses_;  // by channel; between pieces those that later ones may join
};

}  // namespace stria::sim
