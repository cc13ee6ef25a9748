// SPDX-License-Identifier: Apache-2.0
// A mapping of a buffer that ends by itself, as every mapping must.
#pragma once

#include <functional>
#include <string_view>

#include "memory/bench.h"

namespace stria::conformance {

enum class MapMode { current, discard, read };
inline constexpr MapMode kMapModes[] = {MapMode::current, MapMode::discard, MapMode::read};
std::string_view name_of(MapMode mode);  // "current"
// The sentence of stria/plugin.h that says what the mode is for.
std::string_view sentence_of(MapMode mode);

// Movable. Goes before its buffer. Not thread-safe.
class Mapped {
 public:
  // Calls the mode's slot; unimplemented where the plugin has no map_read.
  static Result<Mapped> make(const Bench& bench, MapMode mode, const Buffer& buffer,
                             uint64_t offset, uint64_t bytes, const EventList& waits = {});
  Mapped(Mapped&& other) noexcept;
  Mapped& operator=(Mapped&&) = delete;
  // If it is still mapped: waits until it is ready, and unmaps it. One that never is stays.
  ~Mapped();

  const Event& ready() const { return ready_; }
  // May be touched when `ready` is done and well.
  std::byte* data() const { return data_; }
  std::span<std::byte> memory() const { return {data_, bytes_}; }
  // When it is ready: a failure if the memory holds something else.
  Status holds(std::span<const std::byte> expected, std::string_view what) const;
  // When it is ready: writes all of the memory.
  void write(std::span<const std::byte> contents) const;
  // Once, when `ready` is done, failed or not.
  Result<Event> unmap();
  // unmap(), and waits for the end.
  Status end();

 private:
  Mapped(const Bench& bench, const Buffer& buffer, std::byte* data, uint64_t bytes, Event ready)
      : subject_(&bench.subject()),
        buffer_(buffer.get()),
        data_(data),
        bytes_(bytes),
        ready_(std::move(ready)) {}

  const Subject* subject_;
  stria_buffer* buffer_;  // null: unmapped
  std::byte* data_;
  uint64_t bytes_;
  Event ready_;
};

// Maps a range and waits until it is ready.
Result<Mapped> map_now(const Bench& bench, MapMode mode, const Buffer& buffer, uint64_t offset,
                       uint64_t bytes);

}  // namespace stria::conformance
