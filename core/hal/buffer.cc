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
stria_buffer* Buffer::handle() const { return state_ ? state_->handle : nullptr; }

Result<Mapping> Buffer::map(bool current, Waits waits, uint64_t offset, uint64_t bytes) const {
  if (!state_) return make_error(StatusCode::failed_precondition, "there is no buffer to map");
  if (offset > state_->bytes || bytes > state_->bytes - offset)
    return make_error(StatusCode::out_of_range, "bytes {} to {} of a buffer of {} bytes", offset,
                      offset + bytes, state_->bytes);
  const auto& device = state_->device;
  STRIA_ASSIGN(WaitList list, WaitList::make(device, waits));
  const stria_buffer_table& table = device->tables().buffer;
  void* memory = nullptr;
  stria_event* done = nullptr;
  const char* slot = current ? "buffer.map_current" : "buffer.map_discard";
  STRIA_RETURN_IF_ERROR(device->plugin->call(slot, current ? table.map_current : table.map_discard,
                                             state_->handle, offset, bytes, list.data(),
                                             list.size(), &memory, &done));
  if (!done || (!memory && bytes > 0)) return device->plugin->gave_nothing(slot);
  return Mapping(*this, static_cast<std::byte*>(memory), bytes, Event(device, done, slot));
}

Result<Mapping> Buffer::map_current(Waits waits, uint64_t offset, uint64_t bytes) const {
  return map(true, waits, offset, bytes);
}
Result<Mapping> Buffer::map_current(Waits waits) const { return map(true, waits, 0, size()); }
Result<Mapping> Buffer::map_discard(Waits waits, uint64_t offset, uint64_t bytes) const {
  return map(false, waits, offset, bytes);
}
Result<Mapping> Buffer::map_discard(Waits waits) const { return map(false, waits, 0, size()); }

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
  const Result<Event> made = create_event(buffer_.state_->device);
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
