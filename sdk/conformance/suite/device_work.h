// SPDX-License-Identifier: Apache-2.0
// Short ways to the slots of any open device: the subject's own, one of another driver, one of
// another plugin. What is submitted is handed to the device at once.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "suite/patience.h"
#include "suite/subject.h"

namespace stria::conformance {

// A handle on both; they outlive it.
class DeviceWork {
 public:
  DeviceWork(const hal::Tables& tables, stria_device* device) : tables_(&tables), device_(device) {}
  explicit DeviceWork(const Subject& subject) : DeviceWork(subject.tables(), subject.device()) {}

  const hal::Tables& tables() const { return *tables_; }
  stria_device* device() const { return device_; }

  // A failure's message begins with the slot.
  Result<Executor> executor(std::string_view options = "{}") const;
  Result<Compiler> compiler() const;
  Result<Buffer> allocate(uint64_t bytes, std::string_view memory = {}) const;
  // A buffer that holds these bytes.
  Result<Buffer> buffer(std::span<const std::byte> contents) const;
  Result<Event> host_event() const;
  Status signal(const Event& event, const Status& failure = Status()) const;
  Result<Event> copy(const Executor& on, const Buffer& source, uint64_t source_offset,
                     const Buffer& target, uint64_t target_offset, uint64_t bytes,
                     std::span<stria_event* const> waits = {}) const;
  Result<Event> fill(const Executor& on, const Buffer& target, uint64_t offset, uint64_t bytes,
                     std::span<const std::byte> pattern,
                     std::span<stria_event* const> waits = {}) const;
  Status flush(const Executor& on) const;
  Result<Event> end_of(const Event& event) const;

  Result<bool> is_done(const Event& event) const;
  // A failure if the event of work on one of these executors is done, while `why`. Looks for a
  // moment, and until work that came later on each of them is done: what starts too early has.
  Status stays_open(std::span<const Executor> on, const Event& event, std::string_view why) const;
  // Waits until the event is done; deadline_exceeded after the limit. Not its failure.
  Status wait_for_end(const Event& event, int limit_ms = patience_ms()) const;
  // wait_for_end(), then the event's own failure.
  Status wait(const Event& event, int limit_ms = patience_ms()) const;

  // How a buffer is mapped: the slot of stria_buffer_table.
  using Map = stria_error* (*)(stria_buffer*, uint64_t, uint64_t, stria_event* const*, uint64_t,
                               void**, stria_event**);
  struct Mapping {
    void* memory = nullptr;
    Event ready;
  };
  Result<Mapping> map(Slot slot, const Buffer& buffer, uint64_t offset, uint64_t bytes,
                      std::span<stria_event* const> waits = {}) const;
  // The event of the unmapping.
  Result<Event> unmap(const Buffer& buffer, void* memory) const;
  // By map_discard and by map_current, with waits for the end.
  Status write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes) const;
  Result<Bytes> read(const Buffer& buffer, uint64_t offset, uint64_t bytes) const;
  // A failure if the buffer's bytes from `offset` are others; `what` begins its message.
  Status holds(const Buffer& buffer, std::span<const std::byte> expected, std::string_view what,
               uint64_t offset = 0) const;

 private:
  const hal::Tables* tables_;
  stria_device* device_;
};

// A round of work whose results are checked: buffers, mappings, copies, fills, a chain behind a
// host event, a failure that travels. `seed` makes its bytes differ from those of other rounds.
Status work_round(const DeviceWork& work, uint32_t seed);

}  // namespace stria::conformance
