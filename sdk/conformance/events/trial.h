// SPDX-License-Identifier: Apache-2.0
// A piece of work of each kind on buffers of its own, whose effect can be seen.
#pragma once

#include <optional>
#include <string_view>

#include "events/failure.h"
#include "memory/bench.h"
#include "memory/mapped.h"

namespace stria::conformance {

enum class Op { fill, copy, map_current, map_discard, map_read };
inline constexpr Op kOps[] = {Op::fill, Op::copy, Op::map_current, Op::map_discard, Op::map_read};
std::string_view name_of(Op op);  // "map_current"
// Of an Op that maps.
MapMode mode_of(Op op);

// Movable; goes before its bench.
class Trial {
 public:
  static Result<Trial> start(const Bench& bench, Op op, const EventList& waits = {}, size_t on = 0);
  const Event& done() const { return mapped_ ? mapped_->ready() : event_; }
  // Waits for it, and looks whether the work was done. Ends a mapping.
  Status was_done();
  // It is done and has failed: looks whether the work was left undone. Ends a mapping.
  Status was_not_done();

 private:
  Trial(const Bench& bench, Op op) : bench_(&bench), op_(op) {}

  const Bench* bench_;
  Op op_;
  Bytes before_, after_;  // what the target holds without the work, and with it
  Buffer source_, target_;
  Event event_;                   // of work that is no mapping
  std::optional<Mapped> mapped_;  // goes before its buffer
};

// Kinds of events that can be held open.
enum class Kind { host, fill, copy, map_current, map_discard, map_read, end };
inline constexpr Kind kKinds[] = {Kind::host,        Kind::fill,     Kind::copy, Kind::map_current,
                                  Kind::map_discard, Kind::map_read, Kind::end};
std::string_view name_of(Kind kind);

// An event of each kind that is open until the case says otherwise.
class OpenEvent {
 public:
  static Result<OpenEvent> make(const Bench& bench, Kind kind);
  const Event& event() const { return trial_ ? trial_->done() : end_ ? end_ : gate_; }
  // Lets it be done, and waits for that.
  Status succeed();
  // Lets it fail, and waits for that. The end of another event does not fail.
  Status fail(const Failure& failure);
  // After succeed() or fail(), if the case has nothing more to look at.
  Status close();

 private:
  OpenEvent(const Bench& bench, Kind kind) : bench_(&bench), kind_(kind) {}

  const Bench* bench_;
  Kind kind_;
  bool failed_ = false;
  Event gate_, end_;
  std::optional<Trial> trial_;
};

}  // namespace stria::conformance
