// SPDX-License-Identifier: Apache-2.0
#include "suite/device_work.h"

#include <cstring>

#include "stria/hal/boundary/error.h"
#include "suite/case.h"

namespace stria::conformance {
namespace {

// What runs too early has so much time to do it. Longer finds no more: a plugin that ignores its
// waits starts at once.
constexpr uint64_t kMomentNs = 4'000'000;
// Work without waits that has not ended by then is behind something that is blocked.
constexpr int kBesideMs = 50;

Status gave_nothing(Slot slot) {
  return broken_rule(rule_of(slot), "{} says that it succeeded and gives nothing", name_of(slot));
}

// What a slot that makes an object of the plugin's gave.
template <typename T>
Result<Handle<T>> made(Slot slot, stria_error* error, T* object, void (*release)(T*)) {
  STRIA_RETURN_IF_ERROR(Subject::failure(slot, error));
  if (!object) return gave_nothing(slot);
  return Handle<T>(object, release, slot);
}

}  // namespace

Result<Executor> DeviceWork::executor(std::string_view options) const {
  stria_executor* out = nullptr;
  stria_error* error = tables().device.create_executor(device(), hal::to_c(options), &out);
  return made(Slot::device_create_executor, error, out, tables().executor.release);
}

Result<Compiler> DeviceWork::compiler() const {
  stria_compiler* out = nullptr;
  stria_error* error = tables().device.create_compiler(device(), &out);
  return made(Slot::device_create_compiler, error, out, tables().compiler.release);
}

Result<Buffer> DeviceWork::allocate(uint64_t bytes, std::string_view memory) const {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = bytes;
  params.memory = hal::to_c(memory);
  stria_buffer* out = nullptr;
  stria_error* error = tables().device.allocate(device(), &params, &out);
  return made(Slot::device_allocate, error, out, tables().buffer.release);
}

Result<Buffer> DeviceWork::buffer(std::span<const std::byte> contents) const {
  STRIA_ASSIGN(Buffer out, allocate(contents.size()));
  STRIA_RETURN_IF_ERROR(write(out, 0, contents));
  return out;
}

Result<Event> DeviceWork::host_event() const {
  stria_event* out = nullptr;
  stria_error* error = tables().device.create_event(device(), &out);
  return made(Slot::device_create_event, error, out, tables().event.release);
}

Status DeviceWork::signal(const Event& event, const Status& failure) const {
  stria_error* error = failure.ok() ? nullptr : hal::to_error(failure);
  stria_error* refused = tables().event.signal(event.get(), error);
  if (error) error->release(error);
  return Subject::failure(Slot::event_signal, refused);
}

Result<Event> DeviceWork::copy(const Executor& on, const Buffer& source, uint64_t source_offset,
                               const Buffer& target, uint64_t target_offset, uint64_t bytes,
                               std::span<stria_event* const> waits) const {
  stria_event* out = nullptr;
  stria_error* error =
      tables().executor.copy(on.get(), source.get(), source_offset, target.get(), target_offset,
                             bytes, waits.data(), waits.size(), &out);
  STRIA_ASSIGN(Event done, made(Slot::executor_copy, error, out, tables().event.release));
  STRIA_RETURN_IF_ERROR(flush(on));
  return done;
}

Result<Event> DeviceWork::fill(const Executor& on, const Buffer& target, uint64_t offset,
                               uint64_t bytes, std::span<const std::byte> pattern,
                               std::span<stria_event* const> waits) const {
  stria_event* out = nullptr;
  stria_error* error = tables().executor.fill(on.get(), target.get(), offset, bytes, pattern.data(),
                                              pattern.size(), waits.data(), waits.size(), &out);
  STRIA_ASSIGN(Event done, made(Slot::executor_fill, error, out, tables().event.release));
  STRIA_RETURN_IF_ERROR(flush(on));
  return done;
}

Status DeviceWork::flush(const Executor& on) const {
  const Status status = Subject::failure(Slot::executor_flush, tables().executor.flush(on.get()));
  // Who has no flush hands over everything at once.
  return status.code() == StatusCode::unimplemented ? Status() : status;
}

Result<Event> DeviceWork::end_of(const Event& event) const {
  stria_event* out = nullptr;
  stria_error* error = tables().event.end(event.get(), &out);
  return made(Slot::event_end, error, out, tables().event.release);
}

Result<bool> DeviceWork::is_done(const Event& event) const {
  uint8_t done = 2;
  STRIA_RETURN_IF_ERROR(
      Subject::failure(Slot::event_query, tables().event.query(event.get(), &done)));
  if (done > 1)
    return broken_rule(Rule::boolean, "event.query says {}, which is neither 0 nor 1", int{done});
  return done == 1;
}

Status DeviceWork::stays_open(std::span<const Executor> on, const Event& event,
                              std::string_view why) const {
  for (const Executor& executor : on)
    if (executor) STRIA_RETURN_IF_ERROR(flush(executor));
  const Status waited =
      Subject::failure(Slot::event_wait, tables().event.wait(event.get(), kMomentNs));
  if (waited.ok()) return broken("the event is done while {}", why);
  if (waited.code() != StatusCode::deadline_exceeded) return waited;
  // On a busy machine threads wake late.
  const Result<Buffer> target = buffer(Bytes(64));
  for (const Executor& executor : on) {
    if (!executor || !target.ok()) continue;
    const Result<Event> filled = fill(executor, *target, 0, 64, Bytes(1, std::byte{1}));
    if (filled.ok() && flush(executor).ok()) (void)wait_for_end(*filled, patience_ms(kBesideMs));
  }
  STRIA_ASSIGN(const bool done, is_done(event));
  return done ? broken("the event is done while {}", why) : Status();
}

Status DeviceWork::wait_for_end(const Event& event, int limit_ms) const {
  return Subject::of_event(
      tables().event, event, Slot::event_wait,
      tables().event.wait(event.get(), static_cast<uint64_t>(limit_ms) * 1'000'000));
}

Status DeviceWork::wait(const Event& event, int limit_ms) const {
  STRIA_RETURN_IF_ERROR(wait_for_end(event, limit_ms));
  return Subject::of_event(tables().event, event, Slot::event_status,
                           tables().event.status(event.get()));
}

Result<DeviceWork::Mapping> DeviceWork::map(Slot slot, const Buffer& buffer, uint64_t offset,
                                            uint64_t bytes,
                                            std::span<stria_event* const> waits) const {
  const stria_buffer_table& table = tables().buffer;
  const Map function = slot == Slot::buffer_map_current   ? table.map_current
                       : slot == Slot::buffer_map_discard ? table.map_discard
                                                          : table.map_read;
  Mapping out;
  stria_event* ready = nullptr;
  stria_error* error =
      function(buffer.get(), offset, bytes, waits.data(), waits.size(), &out.memory, &ready);
  STRIA_ASSIGN(out.ready, made(slot, error, ready, tables().event.release));
  return out;
}

Result<Event> DeviceWork::unmap(const Buffer& buffer, void* memory) const {
  stria_event* out = nullptr;
  stria_error* error = tables().buffer.unmap(buffer.get(), memory, &out);
  return made(Slot::buffer_unmap, error, out, tables().event.release);
}

Status DeviceWork::write(const Buffer& buffer, uint64_t offset,
                         std::span<const std::byte> bytes) const {
  STRIA_ASSIGN(const Mapping mapping, map(Slot::buffer_map_discard, buffer, offset, bytes.size()));
  Status status = wait(mapping.ready);
  if (status.ok() && !bytes.empty() && !mapping.memory)
    status = gave_nothing(Slot::buffer_map_discard);
  if (status.ok() && !bytes.empty()) std::memcpy(mapping.memory, bytes.data(), bytes.size());
  STRIA_ASSIGN(const Event unmapped, unmap(buffer, mapping.memory));
  STRIA_RETURN_IF_ERROR(status);
  return wait(unmapped);
}

Result<Bytes> DeviceWork::read(const Buffer& buffer, uint64_t offset, uint64_t bytes) const {
  STRIA_ASSIGN(const Mapping mapping, map(Slot::buffer_map_current, buffer, offset, bytes));
  Bytes out(bytes);
  Status status = wait(mapping.ready);
  if (status.ok() && bytes > 0 && !mapping.memory) status = gave_nothing(Slot::buffer_map_current);
  if (status.ok() && bytes > 0) std::memcpy(out.data(), mapping.memory, bytes);
  STRIA_ASSIGN(const Event unmapped, unmap(buffer, mapping.memory));
  STRIA_RETURN_IF_ERROR(status);
  STRIA_RETURN_IF_ERROR(wait(unmapped));
  return out;
}

Status DeviceWork::holds(const Buffer& buffer, std::span<const std::byte> expected,
                         std::string_view what, uint64_t offset) const {
  STRIA_ASSIGN(const Bytes got, read(buffer, offset, expected.size()));
  const std::string text = difference(got, expected);
  return text.empty() ? Status() : broken("{}: {}", what, text);
}

Status work_round(const DeviceWork& work, uint32_t seed) {
  constexpr uint64_t kBytes = 3000, kFilled = 1024;
  const Bytes first = pattern(kBytes, seed), mark = pattern(4, seed + 1);
  STRIA_ASSIGN(const Executor executor, work.executor());
  STRIA_ASSIGN(const Buffer source, work.buffer(first));
  STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(kBytes, std::byte{0x5a})));
  STRIA_ASSIGN(const Event open, work.host_event());
  stria_event* const behind_open[] = {open.get()};
  STRIA_ASSIGN(const Event copied, work.copy(executor, source, 0, target, 0, kBytes, behind_open));
  stria_event* const behind_copy[] = {copied.get()};
  STRIA_ASSIGN(const Event filled, work.fill(executor, target, 16, kFilled, mark, behind_copy));
  STRIA_RETURN_IF_ERROR(work.signal(open));
  STRIA_RETURN_IF_ERROR(work.wait(filled));
  Bytes expected = first;
  for (size_t i = 0; i < kFilled; ++i) expected[16 + i] = mark[i % mark.size()];
  STRIA_RETURN_IF_ERROR(work.holds(target, expected, "after a copy and a fill behind it"));

  STRIA_ASSIGN(const Event failing, work.host_event());
  stria_event* const behind_failure[] = {failing.get()};
  STRIA_ASSIGN(const Event lost, work.fill(executor, target, 0, kFilled, Bytes(1), behind_failure));
  STRIA_RETURN_IF_ERROR(work.signal(failing, Status(StatusCode::data_loss, "as a case asked")));
  if (const Status status = work.wait(lost); status.code() != StatusCode::data_loss)
    return broken("a fill behind a host event that failed with STRIA_DATA_LOSS ends with '{}'",
                  status.to_string());
  return work.holds(target, expected, "after a fill that was not to be done");
}

}  // namespace stria::conformance
