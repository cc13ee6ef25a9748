// SPDX-License-Identifier: Apache-2.0
// A tensor's elements in the memory of this process: dense, row-major (C order), native byte order,
// those of packed types in the bits of bytes as data_type.h says. What readers of tensor files
// make, writers of them take and copies to and from devices use.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "stria/base/result.h"
#include "stria/type/data_type.h"

namespace stria {

// Owns its elements, or shares those of something else; moves, does not copy by accident. Not
// synchronised.
class STRIA_API HostTensor {
 public:
  // Elements have unspecified values, the bits behind the last one of a packed type are zero.
  // invalid_argument for negative sizes or more bytes than int64 holds, out_of_memory if the host
  // has no room; `what` names the tensor in the message.
  static Result<HostTensor> create(DataType type, std::vector<int64_t> sizes,
                                   std::string_view what);

  // Elements that `owner` keeps alive, at any address; nobody may write to them. For weights in a
  // mapped file. invalid_argument for negative sizes, or if `bytes` are not those of the elements.
  static Result<HostTensor> view(DataType type, std::vector<int64_t> sizes, std::string_view bytes,
                                 std::shared_ptr<const void> owner, std::string_view what);

  HostTensor() = default;  // fp32[0] without memory

  DataType type() const { return type_; }
  // Elements per dimension, outermost first; empty for a scalar.
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t element_count() const { return element_count_; }
  size_t byte_count() const { return static_cast<size_t>(bytes_of(type_, element_count_)); }
  // Aligned to 64 bytes, unless they are a view's; null in a default-made tensor.
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(data()), byte_count()}; }

  // Do the elements lie where one of their type may be read as a whole?
  bool is_aligned() const;

  Result<HostTensor> clone() const;
  // The same bytes read as another type of the same size (u16 as bf16, u8 as fp8_e4m3).
  void reinterpret_as(DataType type);

 private:
  struct Free {
    std::shared_ptr<const void> owner;  // of a view
    void operator()(std::byte* bytes) const {
      if (!owner) std::free(bytes);
    }
  };
  DataType type_ = DataType::fp32;
  std::vector<int64_t> sizes_{0};
  int64_t element_count_ = 0;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace stria
