// SPDX-License-Identifier: Apache-2.0
// A tensor's element type and, for each dimension, its size and stride, both in elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/data_type.h"
#include "stria/type/tensor_type.h"

namespace stria {

struct Dim {
  int64_t size = 0;    // elements, >= 0
  int64_t stride = 0;  // elements between neighbours; 0 and negative are legal for views
  bool operator==(const Dim&) const = default;
};

struct TensorShape {
  DataType type = DataType::fp32;
  std::vector<Dim> dims;  // outermost first
  bool operator==(const TensorShape&) const = default;

  size_t rank() const { return dims.size(); }
  std::vector<int64_t> sizes() const;
  // Product of the sizes: 1 for rank 0.
  int64_t element_count() const;
  // Elements from the lowest to the highest address touched, 0 if a size is 0.
  int64_t span_elements() const;
  int64_t span_bytes() const { return span_elements() * byte_size(type); }
};

// Row-major strides, last dimension contiguous.
TensorShape dense_shape(DataType type, const std::vector<int64_t>& sizes);

// The sizes of the u8 tensor that the bytes of a tensor of packed type are: those of the tensor,
// with bytes along the last dimension if its elements fill whole bytes; else the bytes in a row.
std::vector<int64_t> packed_sizes(DataType type, const std::vector<int64_t>& sizes);
// A tensor's elements in memory: dense_shape, and the bytes of a packed type as u8.
TensorShape memory_shape(DataType type, const std::vector<int64_t>& sizes);

// Ok if all sizes are >= 0 and the dense tensor's bytes fit in int64; `what` names it in the
// message.
Status check_sizes(DataType type, const std::vector<int64_t>& sizes, std::string_view what);

// "fp32[2, 3]", "i8[]".
std::string to_string(DataType type, const std::vector<int64_t>& sizes);

}  // namespace stria
