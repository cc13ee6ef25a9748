// SPDX-License-Identifier: Apache-2.0
// What cases of memory and events work with: the subject's device, executors, and short ways to do
// a piece of work and to look at what it left.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "suite/all_cases.h"
#include "suite/subject.h"

namespace stria::conformance {

using EventList = std::vector<stria_event*>;

// Everything that waits flushes first: else work may wait a while for company. Movable; goes before
// the subject, and after the buffers and events that its functions give.
class Bench {
 public:
  static Result<Bench> make(Subject& subject, size_t executors = 1);

  Subject& subject() const { return *subject_; }
  const Executor& executor(size_t number = 0) const { return executors_[number]; }
  size_t executors() const { return executors_.size(); }
  // Gives an executor back before the others.
  void release_executor(size_t number) { executors_[number].reset(); }

  // A buffer that holds these bytes.
  Result<Buffer> buffer(std::span<const std::byte> contents) const;
  Result<Event> fill(const Buffer& target, uint64_t offset, uint64_t bytes,
                     std::span<const std::byte> pattern, const EventList& waits = {},
                     size_t on = 0) const;
  // The whole buffer with one byte.
  Result<Event> fill(const Buffer& target, uint64_t bytes, unsigned value,
                     const EventList& waits = {}, size_t on = 0) const;
  Result<Event> copy(const Buffer& source, uint64_t source_offset, const Buffer& target,
                     uint64_t target_offset, uint64_t bytes, const EventList& waits = {},
                     size_t on = 0) const;
  // Unimplemented where the plugin has no event.end.
  Result<Event> end_of(const Event& event) const;

  Status flush() const;
  // Waits for the event; its failure.
  Status finish(const Event& event) const;
  Status finish(const Result<Event>& event) const {
    return event.ok() ? finish(*event) : event.status();
  }
  // A failure if the event is done; it has a moment's time to be. `why` says what it waits for.
  Status stays_open(const Event& event, std::string_view why) const;
  // A failure if the buffer's bytes from `offset` are others. `what` begins its message.
  Status holds(const Buffer& buffer, std::span<const std::byte> expected, std::string_view what,
               uint64_t offset = 0) const;

 private:
  explicit Bench(Subject& subject) : subject_(&subject) {}

  Subject* subject_;
  std::vector<Executor> executors_;
};

// The list of these events, in this order.
template <typename... Events>
EventList list_of(const Events&... events) {
  return {events.get()...};
}

// `count` times the same byte.
Bytes bytes_of(uint64_t count, unsigned value);

// A case whose code gets a bench. Without event.end or buffer.map_read in the plugin it is skipped,
// which came after ABI 0.1, and the code fails for that.
Case& add_bench_case(CaseMaker& maker, char group, std::string_view name, Level level,
                     std::string_view sentence, std::function<Status(const Bench&)> run,
                     size_t executors = 1);

}  // namespace stria::conformance
