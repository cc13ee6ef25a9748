// SPDX-License-Identifier: Apache-2.0
// Whether every task of a timeline starts after all that it waits for has ended, task by task,
// however many there are: only points of loops that are under way are kept.
//
// What a timeline repeats is looked at once, and proved for all times. Between the beginning and
// the end of a repeat, what is under way is the same again if all of it is as far, every point of
// each loop as many points on, and every tick that something may wait for as much later as the
// repeat says, or the very same. What the checks then find of one time they find of the next, and
// of all. Where it is not the same yet, the next time is looked at task by task.
//
// A rule of its own and not the clock's: it shares with that the graph and who follows whom in it.
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

  // What comes next of the timeline. internal: which task starts before what has ended.
  Status add(const Timeline& piece);
  // internal: a task has not run.
  Status finish() const;
  // Tasks that were looked at one by one so far.
  uint64_t looked_at() const { return looked_at_; }

 private:
  struct Point;
  struct Run;
  struct Moment;
  class Walk;
  // Which time of the repeats around it is played.
  struct Turn {
    const Repeat* repeat;
    uint64_t time;
    const Turn* around;
  };
  // Loops by when they began: where a task's number goes when they do.
  struct Line {
    uint32_t around = 0;
    uint64_t size = 0;  // numbers of a point
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
