// SPDX-License-Identifier: Apache-2.0
// Which tasks each instance has done in a timeline, in which order and when, for another simulation
// that keeps to it. What the timeline repeats is not written out.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/steady_state.h"
#include "engine/timeline.h"

namespace stria::sim {

class TaskOrder {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;

  TaskOrder(Timeline timeline, uint32_t instances);

  // The task that the instance takes next: its number, the tick at which it starts in the timeline,
  // and what the instance waits for before it there. After the last one kNone.
  struct Next {
    uint64_t number = kNone, start = kNone;
    Spent waited = Spent::no_work;
  };
  Next next(uint32_t instance) const;
  // It has taken that.
  void take(uint32_t instance);

  // --- for skipping ahead

  // Adds how far each instance has come to the moment.
  void write_state(Moment& moment) const;
  // Instances go on as they did from one moment to the other, so many times more.
  void skip(const Moment& before, const Moment& now, uint64_t times);

 private:
  // A repeat of the timeline, as far as one instance has part in it.
  struct Span {
    size_t first = 0, last = 0;  // of its tasks
    size_t repeat = 0;           // of the timeline
    int32_t around = -1;         // the span that this one is in
    uint64_t done = 0;           // how many times it has been repeated so far
  };
  struct Line {
    std::vector<uint32_t> tasks;  // records of the timeline
    std::vector<int32_t> inside;  // of each the innermost span; -1: none
    std::vector<Span> spans;
    size_t at = 0;
  };
  Timeline timeline_;
  std::vector<Line> lines_;  // by instance
};

}  // namespace stria::sim
