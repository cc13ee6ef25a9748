// SPDX-License-Identifier: Apache-2.0
// A tensor on several devices: each has the rows of its part, or all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/tensor.h"
#include "stria/type/host_tensor.h"

namespace stria {

// A handle, as Tensor is; safe from any thread. Every function but valid() needs a tensor that a
// SplitExecutable has made.
class STRIA_API SplitTensor {
 public:
  SplitTensor() = default;
  bool valid() const { return state_ != nullptr; }

  const TensorInfo& info() const;  // of the whole
  // Is it cut along a dimension? Else each device has all of it.
  bool is_cut() const;
  size_t dimension() const;  // along which it is cut; 0 if it is not
  // One for each part of the executable, in that order.
  const std::vector<Tensor>& pieces() const;

  // Copies all elements in or out, of all devices at once, and returns when that is done. What is
  // whole goes from the host to the first device; to each other one from there, where the measured
  // rates of the two say that a peer copy is quicker (topology.h), else from the host. Fails like
  // Tensor::write, with the name of the device. What is whole is read from the first device.
  Status write(std::string_view bytes) const;
  Result<HostTensor> read() const;
  template <typename T>
  Status write_values(const std::vector<T>& values) const {
    STRIA_RETURN_IF_ERROR(check_values(data_type_of<T>(), values.size()));
    return write({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }

 private:
  friend class SplitExecutable;
  friend struct SplitInside;
  struct State;
  Status check_values(DataType type, size_t count) const;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
