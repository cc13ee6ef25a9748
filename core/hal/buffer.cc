// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/buffer.h"

#include <utility>

#include "stria/hal/device_state.h"

namespace stria::hal {

struct Buffer::State {
  std::shared_ptr<DeviceState> device;
  stria_buffer* handle;
  uint64_t bytes;
  std::shared_ptr<const void> companion;

  State(std::shared_ptr<DeviceState> owner, stria_buffer* buffer, uint64_t size,
        std::shared_ptr<const void> other)
      : device(std::move(owner)), handle(buffer), bytes(size), companion(std::move(other)) {
    device->plugin->count(Noun::buffer);
  }
  ~State() {
    device->plugin->release(Noun::buffer, "buffer.release", device->tables().buffer.release,
                            handle);
  }
};

Buffer::Buffer(std::shared_ptr<DeviceState> device, stria_buffer* handle, uint64_t bytes,
               std::shared_ptr<const void> companion)
    : state_(
          std::make_shared<const State>(std::move(device), handle, bytes, std::move(companion))) {}

uint64_t Buffer::size() const { return state_ ? state_->bytes : 0; }
std::shared_ptr<DeviceState> Buffer::device() const { return state_ ? state_->device : nullptr; }
stria_buffer* Buffer::handle() const { return state_ ? state_->handle : nullptr; }

Result<Mapping> Buffer::map(Slot kind, Waits waits, uint64_t offset, uint64_t bytes) const {
  if (!state_) return make_error(StatusCode::failed_precondition, "there is no buffer to map");
  if (offset > state_->bytes || bytes > state_->bytes - offset)
    return make_error(StatusCode::out_of_range, "{} bytes from offset {} of a buffer of {} bytes",
                      bytes, offset, state_->bytes);
  const auto& device = state_->device;
  STRIA_ASSIGN(WaitList list, WaitList::make(device, waits));
  const stria_buffer_table& table = device->tables().buffer;
  void* memory = nullptr;
  stria_event* done = nullptr;
  struct Call {
    const char* name;
    decltype(table.map_current) slot;
  };
  const Call calls[] = {{"buffer.map_current", table.map_current},
                        {"buffer.map_discard", table.map_discard},
                        {"buffer.map_read", table.map_read}};
  const auto [slot, function] = calls[static_cast<size_t>(kind)];
  const Status mapped = device->plugin->call(slot, function, state_->handle, offset, bytes,
                                             list.data(), list.size(), &memory, &done);
  // Plugins before ABI 0.5 write back what was only read.
  if (kind == Slot::read && mapped.code() == StatusCode::unimplemented)
    return map(Slot::current, waits, offset, bytes);
  STRIA_RETURN_IF_ERROR(mapped);
  if (!done || (!memory && bytes > 0)) return device->plugin->gave_nothing(slot);
  return Mapping(*this, static_cast<std::byte*>(memory), bytes, Event(device, done, slot));
}

Result<Mapping> Buffer::map_current(Waits waits, uint64_t offset, uint64_t bytes) const {
  return map(Slot::current, waits, offset, bytes);
}
Result<Mapping> Buffer::map_current(Waits waits) const {
  return map(Slot::current, waits, 0, size());
}
Result<Mapping> Buffer::map_discard(Waits waits, uint64_t offset, uint64_t bytes) const {
  return map(Slot::discard, waits, offset, bytes);
}
Result<Mapping> Buffer::map_discard(Waits waits) const {
  return map(Slot::discard, waits, 0, size());
}
Result<Mapping> Buffer::map_read(Waits waits, uint64_t offset, uint64_t bytes) const {
  return map(Slot::read, waits, offset, bytes);
}
Result<Mapping> Buffer::map_read(Waits waits) const { return map(Slot::read, waits, 0, size()); }

Mapping::Mapping(Buffer buffer, std::byte* data, uint64_t bytes, Event ready)
    : buffer_(std::move(buffer)),
      data_(data),
      bytes_(bytes),
      ready_(std::move(ready)),
      mapped_(true) {}

Mapping::Mapping(Mapping&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      ready_(std::move(other.ready_)),
      mapped_(std::exchange(other.mapped_, false)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this == &other) return *this;
  if (mapped_) (void)unmap();
  buffer_ = std::move(other.buffer_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  ready_ = std::move(other.ready_);
  mapped_ = std::exchange(other.mapped_, false);
  return *this;
}

Mapping::~Mapping() {
  if (mapped_) (void)unmap();
}

Result<Event> Mapping::unmap_now(const Buffer& buffer, std::byte* data) {
  const auto& device = buffer.state_->device;
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(device->plugin->call("buffer.unmap", device->tables().buffer.unmap,
                                             buffer.handle(), static_cast<void*>(data), &done));
  if (!done) return device->plugin->gave_nothing("buffer.unmap");
  return Event(device, done, "buffer.unmap");
}

Result<Event> Mapping::unmap() {
  if (!mapped_) return make_error(StatusCode::failed_precondition, "the range is not mapped");
  mapped_ = false;
  std::byte* const data = std::exchange(data_, nullptr);
  if (ready_.is_done()) return unmap_now(buffer_, data);
  // Plugins unmap what is ready, and only that: what they take to the device must have come from
  // it. Without an event to give back the mapping ends all the same.
  const Result<Event> made = create_event(buffer_.state_->device, "buffer.unmap");
  const Event ended = made.ok() ? *made : Event();
  STRIA_RETURN_IF_ERROR(ready_.on_done([buffer = buffer_, data, ended](const Status&) {
    const Result<Event> done = unmap_now(buffer, data);
    Status status = done.status();
    if (status.ok())
      status = done->on_done([ended](const Status& outcome) { (void)ended.signal(outcome); });
    if (!status.ok()) (void)ended.signal(status);
  }));
  return made;
}

}  // namespace stria::hal
