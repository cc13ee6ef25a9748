// SPDX-License-Identifier: Apache-2.0
// Which tasks each instance does in a timeline, in which order and when, for another simulation
// that keeps to it. Repeats are not written out. The timeline comes in pieces; a piece is kept
// until every instance has left it behind.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "engine/steady_state.h"
#include "engine/timeline.h"
#include "stria/base/result.h"
#include "stria/base/status.h"

namespace stria::sim {

class TaskOrder {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;

  // A piece of the timeline as TakePiece has it (simulate.h).
  struct Piece {
    Timeline timeline;
    uint64_t horizon = 0;  // no task of a later piece starts before
    bool last = false;
  };
  TaskOrder(std::function<Result<Piece>()> source, uint32_t instances);

  // The task that the instance takes next: its number, the tick at which it starts in the timeline,
  // and what the instance waits for before it there. After the last task both are kNone. If that
  // task has not come yet, `number` alone is kNone: it starts after `now` and not before `start`.
  struct Next {
    uint64_t number = kNone, start = kNone;
    Spent waited = Spent::no_work;
  };
  Next next(uint32_t instance, uint64_t now);
  // The instance has taken that task.
  void take(uint32_t instance);
  // From this tick on an instance may have a task that has not come yet; kNone: never.
  uint64_t unknown_from() const { return waiting_ > 0 && !all_here_ ? horizon_ : kNone; }
  // Fetches pieces until unknown_from() is after `now`.
  void know(uint64_t now) {
    while (unknown_from() <= now) fetch();
  }
  // Why no piece came; then no instance has a further task.
  const Status& status() const { return status_; }

  // --- for skipping ahead

  // Adds to the moment how far each instance has come.
  void write_state(Moment& moment);
  // Lets instances go on as they did from one moment to the other, so many times more.
  void skip(const Moment& before, const Moment& now, uint64_t times);

 private:
  // The part of a repeat that one instance takes part in.
  struct Span {
    size_t first = 0, last = 0;  // of its tasks
    size_t repeat = 0;           // of the piece
    int32_t around = -1;         // the span around it; -1: none
    uint64_t done = 0;           // how many times it has been repeated so far
  };
  struct Line {
    std::vector<uint32_t> tasks;  // records of the piece
    std::vector<int32_t> inside;  // by task: the innermost span around it; -1: none
    std::vector<Span> spans;
    size_t at = 0;
  };
  struct KeptPiece {
    Timeline timeline;
    std::vector<Line> lines;  // by instance
    size_t instances = 0;     // how many have their next task in it
  };

  void fetch();
  // Moves the instance to the first piece in which it has a task left, or behind the last one.
  void move_on(uint32_t instance);
  bool has_task(uint32_t instance) const { return piece_of_[instance] < first_ + pieces_.size(); }
  KeptPiece& piece_of(uint32_t instance) { return pieces_[piece_of_[instance] - first_]; }

  std::function<Result<Piece>()> source_;
  std::deque<KeptPiece> pieces_;
  uint64_t first_ = 0;              // how many pieces came before pieces_
  std::vector<uint64_t> piece_of_;  // by instance, counted from the first of all
  size_t waiting_ = 0;              // instances behind the last piece
  uint64_t horizon_ = 0;
  bool all_here_ = false;
  Status status_;
};

}  // namespace stria::sim
