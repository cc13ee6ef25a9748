// SPDX-License-Identifier: Apache-2.0
// A dense row-major tensor in a device's memory. It knows which work still writes and reads it, so
// runs and copies that share tensors order themselves: a read waits for the last write, a write for
// the last write and all reads since. After a failed run its outputs fail to read until something
// else writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/event.h"
#include "stria/type/data_type.h"
#include "stria/type/host_tensor.h"
#include "stria/type/tensor_type.h"

namespace stria {

class MappedTensor;

// An input or output of an executable. Plain value.
struct TensorInfo {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;  // elements, outermost first
};

// A handle. It outlives programs, executables and the Runtime. Its memory is freed with the last
// copy and the last work that uses it; an Executable whose program computes from constants in
// advance keeps the constants of its last run. Safe from any thread: what two threads do to one
// tensor is ordered as their calls were. Every function but valid() needs a tensor that a Device
// has made.
class STRIA_API Tensor {
 public:
  Tensor() = default;
  bool valid() const { return state_ != nullptr; }

  const TensorType& tensor_type() const;
  DataType type() const { return tensor_type().type; }
  const std::vector<int64_t>& sizes() const { return tensor_type().sizes; }
  int64_t element_count() const;
  uint64_t byte_count() const;

  // Host memory with the contents, for reading and writing. The contents are there once the last
  // writer is done (MappedTensor::ready). Work started on the tensor while it is mapped waits for
  // the unmap. failed_precondition if it is mapped already.
  Result<MappedTensor> map_current() const;
  // The same without the contents, which are not copied from the device: every byte must be
  // written. The memory is there once all users of the tensor are done.
  Result<MappedTensor> map_discard() const;

  // Copies all elements in or out and returns when that is done, waiting for users of the tensor as
  // needed. invalid_argument for another number of bytes or values or another element type;
  // failed_precondition while the tensor is mapped; reading also fails as the last writer failed.
  Status write(std::string_view bytes) const;
  Result<HostTensor> read() const;
  template <typename T>
  Status write_values(const std::vector<T>& values) const {
    STRIA_RETURN_IF_ERROR(check_values(data_type_of<T>(), values.size()));
    return write({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  template <typename T>
  Result<std::vector<T>> read_values() const {
    STRIA_RETURN_IF_ERROR(check_values(data_type_of<T>(), static_cast<size_t>(element_count())));
    std::vector<T> values(static_cast<size_t>(element_count()));
    STRIA_RETURN_IF_ERROR(read_into(std::as_writable_bytes(std::span(values))));
    return values;
  }

  // Is it the same tensor?
  bool operator==(const Tensor& other) const { return state_ == other.state_; }

 private:
  friend class Device;
  friend class Executable;
  friend struct Inside;
  friend class MappedTensor;
  struct State;

  Status check_values(DataType type, size_t count) const;
  Status read_into(std::span<std::byte> bytes) const;
  Result<MappedTensor> map(bool current) const;

  std::shared_ptr<State> state_;
};

// A tensor's memory as the host sees it, until unmap() or destruction. For one thread at a time.
class STRIA_API MappedTensor {
 public:
  MappedTensor(MappedTensor&& other) noexcept;
  MappedTensor& operator=(MappedTensor&& other) noexcept;  // unmaps what it held
  ~MappedTensor();

  // Done when the memory may be touched; fails, for map_current, as the last writer failed.
  const Event& ready() const;
  // Dense and row-major; null when unmapped. Only after ready().
  std::byte* data() const;
  uint64_t size() const;  // bytes
  // Waits for ready() and gives the elements. invalid_argument for another element type,
  // failed_precondition when unmapped.
  template <typename T>
  Result<std::span<T>> values() const {
    STRIA_RETURN_IF_ERROR(wait_for(data_type_of<T>()));
    return std::span<T>(reinterpret_cast<T*>(data()), size() / sizeof(T));
  }

  // Ends the mapping; the event is done when the device sees what was written. failed_precondition
  // if it has ended. Without it the destructor unmaps, and a failure shows in the tensor's next
  // use.
  Result<Event> unmap();

 private:
  friend class Tensor;
  struct State;
  explicit MappedTensor(std::unique_ptr<State> state);
  Status wait_for(DataType type) const;
  std::unique_ptr<State> state_;
};

}  // namespace stria
