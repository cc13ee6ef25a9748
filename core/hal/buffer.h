// SPDX-License-Identifier: Apache-2.0
// Memory of a device, and its mappings into host memory. Buffer is a copyable handle; memory lives
// as long as a copy, or work that uses it, does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stria/base/status.h"
#include "stria/hal/event.h"
#include "stria/plugin.h"

namespace stria::hal {

class Mapping;

class Buffer {
 public:
  Buffer() = default;
  bool valid() const { return state_ != nullptr; }
  uint64_t size() const;  // bytes

  // Host memory with the buffer's `bytes` from `offset`: valid from when ready() is. Put the
  // buffer's writers into `waits`. out_of_range if the range leaves the buffer.
  Result<Mapping> map_current(Waits waits, uint64_t offset, uint64_t bytes) const;
  Result<Mapping> map_current(Waits waits = {}) const;  // all of it
  // The same without reading back: every byte must be written after ready(). Put the buffer's users
  // into `waits`.
  Result<Mapping> map_discard(Waits waits, uint64_t offset, uint64_t bytes) const;
  Result<Mapping> map_discard(Waits waits = {}) const;  // all of it
  // map_current for who only reads: its bytes must not be written, and unmap() takes nothing to the
  // device. Such mappings may overlap each other, unless the plugin is older than ABI 0.5.
  Result<Mapping> map_read(Waits waits, uint64_t offset, uint64_t bytes) const;
  Result<Mapping> map_read(Waits waits = {}) const;  // all of it

  stria_buffer* handle() const;
  std::shared_ptr<DeviceState> device() const;  // null without a buffer
  // Same allocation?
  bool operator==(const Buffer& other) const { return state_ == other.state_; }

  // Takes over `handle`; `companion` goes after it.
  Buffer(std::shared_ptr<DeviceState> device, stria_buffer* handle, uint64_t bytes,
         std::shared_ptr<const void> companion = nullptr);

 private:
  friend class Mapping;
  struct State;
  enum class Slot { current, discard, read };
  Result<Mapping> map(Slot slot, Waits waits, uint64_t offset, uint64_t bytes) const;
  std::shared_ptr<const State> state_;
};

// A mapped range; unmapped by unmap() or, if that was not called, by the destructor. It holds its
// range from when its waits are over until the event of unmap() is done: ranges held at once must
// not overlap, but for those that are only read. Before that it holds nothing, so a range may be
// mapped again at any time if the later waits include the event of the earlier unmap().
class Mapping {
 public:
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  // When the memory may be touched.
  const Event& ready() const { return ready_; }
  std::byte* data() const { return data_; }
  uint64_t size() const { return bytes_; }
  std::span<std::byte> bytes() const { return {data_, bytes_}; }
  // The event says when the device sees what was written. data() is over with this call. It may
  // come before ready() is done: the plugin is told after that, and the contents stay as they are
  // (map_discard: undefined).
  Result<Event> unmap();

 private:
  friend class Buffer;
  Mapping(Buffer buffer, std::byte* data, uint64_t bytes, Event ready);
  static Result<Event> unmap_now(const Buffer& buffer, std::byte* data);
  Buffer buffer_;
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
  Event ready_;
  bool mapped_ = false;
};

}  // namespace stria::hal
