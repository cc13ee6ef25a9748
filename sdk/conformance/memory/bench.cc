// SPDX-License-Identifier: Apache-2.0
#include "memory/bench.h"

#include "suite/device_work.h"

namespace stria::conformance {

Result<Bench> Bench::make(Subject& subject, size_t executors) {
  Bench bench(subject);
  for (size_t i = 0; i < executors; ++i) {
    STRIA_ASSIGN(Executor executor, subject.make_executor());
    bench.executors_.push_back(std::move(executor));
  }
  return bench;
}

Result<Buffer> Bench::buffer(std::span<const std::byte> contents) const {
  STRIA_ASSIGN(Buffer buffer, subject_->allocate(contents.size()));
  STRIA_RETURN_IF_ERROR(subject_->write(buffer, 0, contents));
  return buffer;
}

Result<Event> Bench::fill(const Buffer& target, uint64_t offset, uint64_t bytes,
                          std::span<const std::byte> pattern, const EventList& waits,
                          size_t on) const {
  return subject_->fill(executor(on), target, offset, bytes, pattern, waits);
}

Result<Event> Bench::fill(const Buffer& target, uint64_t bytes, unsigned value,
                          const EventList& waits, size_t on) const {
  const auto byte = static_cast<std::byte>(value);
  return fill(target, 0, bytes, {&byte, 1}, waits, on);
}

Result<Event> Bench::copy(const Buffer& source, uint64_t source_offset, const Buffer& target,
                          uint64_t target_offset, uint64_t bytes, const EventList& waits,
                          size_t on) const {
  return subject_->copy(executor(on), source, source_offset, target, target_offset, bytes, waits);
}

Result<Event> Bench::end_of(const Event& event) const {
  stria_event* end = nullptr;
  STRIA_SLOT(*subject_, event, end, event.get(), &end);
  if (!end)
    return broken_rule(rule_of(Slot::event_end),
                       "event.end says that it succeeded and gives nothing");
  return Event(end, subject_->tables().event.release, Slot::event_end);
}

Status Bench::flush() const {
  for (const Executor& executor : executors_)
    if (executor) STRIA_RETURN_IF_ERROR(DeviceWork(*subject_).flush(executor));
  return Status();
}

Status Bench::finish(const Event& event) const {
  STRIA_RETURN_IF_ERROR(flush());
  return subject_->wait(event);
}

Status Bench::stays_open(const Event& event, std::string_view why) const {
  return DeviceWork(*subject_).stays_open(executors_, event, why);
}

Status Bench::holds(const Buffer& buffer, std::span<const std::byte> expected,
                    std::string_view what, uint64_t offset) const {
  STRIA_ASSIGN(const Bytes got, subject_->read(buffer, offset, expected.size()));
  const std::string wrong = difference(got, expected);
  return wrong.empty() ? Status() : broken("{}: {}", what, wrong);
}

Bytes bytes_of(uint64_t count, unsigned value) {
  return Bytes(count, static_cast<std::byte>(value));
}

Case& add_bench_case(CaseMaker& maker, char group, std::string_view name, Level level,
                     std::string_view sentence, std::function<Status(const Bench&)> run,
                     size_t executors) {
  return maker.add(group, name, level, sentence,
                   [run = std::move(run), executors](Subject& subject) -> Finding {
                     STRIA_ASSIGN(const Bench bench, Bench::make(subject, executors));
                     const Status status = run(bench);
                     if (status.code() == StatusCode::unimplemented)
                       for (const Slot slot : {Slot::event_end, Slot::buffer_map_read})
                         if (status.message().find(name_of(slot)) != std::string::npos)
                           return Finding::skip(fmt::format("the plugin has no {}", name_of(slot)));
                     return status;
                   });
}

}  // namespace stria::conformance
