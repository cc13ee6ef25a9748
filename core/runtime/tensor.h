// SPDX-License-Identifier: Apache-2.0
// A dense row-major tensor in a device's memory. It knows which work still writes and reads it, so
// runs and copies that share tensors order themselves: a read waits for the last write, a write for
// the last write and all reads since. After a failed run its outputs fail to read until something
// else writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/exec/device_memory.h"
#include "stria/hal/device.h"
#include "stria/runtime/event.h"
#include "stria/type/host_tensor.h"

namespace stria {

class MappedTensor;

// A handle: copies are the same tensor. It outlives programs and the Runtime. Safe from any thread;
// what two threads do to one tensor is ordered as their calls were.
class Tensor {
 public:
  Tensor() = default;
  bool valid() const { return state_ != nullptr; }

  DataType type() const;
  const std::vector<int64_t>& sizes() const;  // elements, outermost first
  int64_t element_count() const;
  uint64_t byte_count() const;

  // Host memory with the contents, for reading and writing once ready() is done. Work started on
  // the tensor while it is mapped waits for the unmap. failed_precondition if it is mapped already.
  Result<MappedTensor> map_current() const;
  // The same without the contents: every byte must be written.
  Result<MappedTensor> map_discard() const;
  // Copies all bytes, waiting as needed. invalid_argument if `bytes` has another size.
  Status write(std::string_view bytes) const;
  Result<HostTensor> read() const;

  bool operator==(const Tensor& other) const { return state_ == other.state_; }

 private:
  friend class Device;
  friend class Executable;
  friend class MappedTensor;
  struct State;

  // Undefined contents. `order` is the one lock of the device under which work is started and
  // recorded.
  static Result<Tensor> create(const exec::DeviceMemory& memory, std::shared_ptr<std::mutex> order,
                               DataType type, std::vector<int64_t> sizes, std::string_view what);
  Result<MappedTensor> map(bool current) const;

  // All below: with the order lock held.
  const hal::Buffer& buffer() const;
  const std::shared_ptr<std::mutex>& order() const;
  void add_events_before_read(std::vector<Event>& waits) const;
  Status add_events_before_write(std::vector<Event>& waits) const;
  void add_reader(const Event& event) const;
  void set_writer(const Event& event) const;
  uint64_t version() const;  // counts the writes: the same number means the same content

  std::shared_ptr<State> state_;
};

// A tensor's memory as the host sees it, until unmap() or destruction.
class MappedTensor {
 public:
  MappedTensor(MappedTensor&& other) noexcept = default;
  MappedTensor& operator=(MappedTensor&&) = delete;
  ~MappedTensor();

  const Event& ready() const { return mapping_.ready(); }
  std::byte* data() const { return mapping_.data(); }
  uint64_t size() const { return mapping_.size(); }  // bytes
  // Done when the device sees what was written.
  Result<Event> unmap();

 private:
  friend class Tensor;
  MappedTensor(Tensor tensor, hal::Mapping mapping, Event ended)
      : tensor_(std::move(tensor)), mapping_(std::move(mapping)), ended_(std::move(ended)) {}
  Tensor tensor_;  // invalid once unmapped or moved from
  hal::Mapping mapping_;
  Event ended_;  // what the tensor's next users wait for
};

}  // namespace stria
