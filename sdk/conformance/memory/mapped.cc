// SPDX-License-Identifier: Apache-2.0
#include "memory/mapped.h"

#include <cstring>
#include <utility>

namespace stria::conformance {

std::string_view name_of(MapMode mode) {
  switch (mode) {
    case MapMode::current: return "current";
    case MapMode::discard: return "discard";
    case MapMode::read: return "read";
  }
  return "none";
}

std::string_view sentence_of(MapMode mode) {
  switch (mode) {
    case MapMode::current:
      return "Gives `bytes` of host memory that stand for the buffer's bytes from `offset`: the "
             "address at once, the buffer's contents in it when `done` is.";
    case MapMode::discard:
      return "The same without reading back: the contents are undefined and all of them must be "
             "written, after `done`.";
    case MapMode::read:
      return "map_current for who only reads: the memory is not written, and its unmap takes "
             "nothing to the device.";
  }
  return "";
}

Result<Mapped> Mapped::make(const Bench& bench, MapMode mode, const Buffer& buffer, uint64_t offset,
                            uint64_t bytes, const EventList& waits) {
  const Subject& subject = bench.subject();
  const stria_buffer_table& table = subject.tables().buffer;
  void* memory = nullptr;
  stria_event* done = nullptr;
  const auto call = [&](Slot slot, decltype(table.map_current) function) {
    return Subject::failure(
        slot, function(buffer.get(), offset, bytes, waits.data(), waits.size(), &memory, &done));
  };
  STRIA_RETURN_IF_ERROR(bench.flush());
  STRIA_RETURN_IF_ERROR(mode == MapMode::current ? call(Slot::buffer_map_current, table.map_current)
                        : mode == MapMode::discard
                            ? call(Slot::buffer_map_discard, table.map_discard)
                            : call(Slot::buffer_map_read, table.map_read));
  const Slot made_by = mode == MapMode::current   ? Slot::buffer_map_current
                       : mode == MapMode::discard ? Slot::buffer_map_discard
                                                  : Slot::buffer_map_read;
  if (!done)
    return broken_rule(rule_of(made_by), "map_{} says that it succeeded and gives no event",
                       name_of(mode));
  Event ready(done, subject.tables().event.release, made_by);
  if (!memory && bytes > 0)
    // Of all modes: the address comes at once.
    return broken_rule(rule_of(Slot::buffer_map_current),
                       "map_{} of {} bytes at {} gives no address", name_of(mode), bytes, offset);
  return Mapped(bench, buffer, static_cast<std::byte*>(memory), bytes, std::move(ready));
}

Mapped::Mapped(Mapped&& other) noexcept
    : subject_(other.subject_),
      buffer_(std::exchange(other.buffer_, nullptr)),
      data_(other.data_),
      bytes_(other.bytes_),
      ready_(std::move(other.ready_)) {}

Mapped::~Mapped() {
  if (!buffer_) return;
  constexpr uint64_t kPatienceNs = 1'000'000'000;
  const Status ready =
      Subject::failure(Slot::event_wait, subject_->tables().event.wait(ready_.get(), kPatienceNs));
  if (ready.ok()) (void)end();
}

Status Mapped::holds(std::span<const std::byte> expected, std::string_view what) const {
  const std::string wrong = difference(memory(), expected);
  return wrong.empty() ? Status() : broken("{}: {}", what, wrong);
}

void Mapped::write(std::span<const std::byte> contents) const {
  if (!contents.empty()) std::memcpy(data_, contents.data(), contents.size());
}

Result<Event> Mapped::unmap() {
  stria_event* done = nullptr;
  STRIA_SLOT(*subject_, buffer, unmap, std::exchange(buffer_, nullptr), data_, &done);
  if (!done)
    return broken_rule(rule_of(Slot::buffer_unmap),
                       "buffer.unmap says that it succeeded and gives no event");
  return Event(done, subject_->tables().event.release, Slot::buffer_unmap);
}

Status Mapped::end() {
  STRIA_ASSIGN(const Event ended, unmap());
  return subject_->wait(ended);
}

Result<Mapped> map_now(const Bench& bench, MapMode mode, const Buffer& buffer, uint64_t offset,
                       uint64_t bytes) {
  STRIA_ASSIGN(Mapped mapped, Mapped::make(bench, mode, buffer, offset, bytes));
  STRIA_RETURN_IF_ERROR(bench.finish(mapped.ready()));
  return mapped;
}

}  // namespace stria::conformance
