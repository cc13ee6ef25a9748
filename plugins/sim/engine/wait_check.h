// SPDX-License-Identifier: Apache-2.0
// Checks that every task of a timeline starts after all that it waits for has ended. It looks task
// by task, however many there are: it keeps only the points of loops that are under way.
//
// What a timeline repeats is checked once, and proved for all times. Compare what is under way at
// the beginning and at the end of a repeat. The repeat is proved if every loop has come on by its
// own number of points, and every tick that something may wait for is as much later as the repeat
// says, or the very same. Then what the checks find for one time holds for the next, and for all.
// If the state is not alike yet, the next time is checked task by task.
//
// This is a check of its own and not the simulator's code: it shares with it only the graph, and
// who waits for whom.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/graph_plan.h"
#include "engine/repeat_tree.h"
#include "engine/timeline.h"
#include "stria/base/status.h"

namespace stria::sim {

class WaitCheck {
 public:
  // `graph` must outlive it.
  explicit WaitCheck(const TaskGraph& graph);
  ~WaitCheck();

  // Takes the next piece of the timeline. internal: a task starts before something that it waits
  // for has ended; the message names both.
  Status add(const Timeline& piece);
  // internal: a task has not run.
  Status finish() const;
  // Tasks that were checked one by one so far.
  uint64_t looked_at() const { return looked_at_; }

 private:
  struct Point;
  struct Run;
  struct Moment;
  class Walk;
  // Which time of a repeat is played, with the repeats around it.
  struct Turn {
    const Repeat* repeat;
    uint64_t time;
    const Turn* around;
  };
  // By loop, in the order in which they began: how numbers of tasks grow when loops go on.
  struct Line {
    uint32_t around = 0;
    uint64_t size = 0;  // how many numbers a point takes
  };
  struct Ended {
    Point* point;
    uint32_t node;
    uint64_t at;
  };

  Status play(const Timeline& piece, size_t first, size_t last,
              const std::vector<RepeatTree>& repeats, const Turn* turn);
  Status play_repeat(const Timeline& piece, const RepeatTree& tree, const Turn* turn);
  Status task(const TaskRecord& record, size_t at);
  Result<Point*> reach(Run& run, uint64_t number, const TaskRecord& record);
  Status too_early(const TaskRecord& record, const Point& point, uint32_t node) const;
  void release(Point& point, uint32_t node, uint64_t at);
  void settle();
  void end_of_point(Point& point);
  std::unique_ptr<Point> made(const GraphPlan& plan, Run* in);
  Moment moment();
  uint64_t skip(const Moment& before, const Repeat& repeat, uint64_t times);
  void renumber(Point& point, uint32_t around);

  const TaskGraph& graph_;
  GraphPlan plan_;
  std::unique_ptr<Point> root_;
  std::vector<Ended> ended_;
  std::vector<Line> lines_;
  std::vector<uint32_t> loop_of_;  // by record of the piece
  uint64_t last_end_ = 0;
  uint64_t looked_at_ = 0;
};

}  // namespace stria::sim
