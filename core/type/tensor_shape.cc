// SPDX-License-Identifier: Apache-2.0
#include "stria/type/tensor_shape.h"

#include <fmt/ranges.h>

namespace stria {

std::vector<int64_t> TensorShape::sizes() const {
  std::vector<int64_t> out;
  for (const Dim& dim : dims) out.push_back(dim.size);
  return out;
}

int64_t TensorShape::element_count() const {
  int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.size;
  return count;
}

int64_t TensorShape::span_elements() const {
  int64_t span = 1;
  for (const Dim& dim : dims) {
    if (dim.size == 0) return 0;
    span += (dim.size - 1) * (dim.stride < 0 ? -dim.stride : dim.stride);
  }
  return span;
}

TensorShape dense_shape(DataType type, const std::vector<int64_t>& sizes) {
  TensorShape shape{type, std::vector<Dim>(sizes.size())};
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    shape.dims[i] = {sizes[i], stride};
    stride *= sizes[i];
  }
  return shape;
}

Status check_sizes(DataType type, const std::vector<int64_t>& sizes, std::string_view what) {
  int64_t bytes = byte_size(type);
  for (int64_t size : sizes) {
    if (size < 0)
      return invalid_argument("{} has the negative size {} in [{}]", what, size,
                              fmt::join(sizes, ", "));
  }
  // Without the zeros, so that [0, huge, huge] is refused like [1, huge, huge]: strides need room
  // too.
  for (int64_t size : sizes) {
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
      return invalid_argument("{} of {}[{}] needs 2^63 bytes or more", what, name_of(type),
                              fmt::join(sizes, ", "));
  }
  return Status();
}

std::string to_string(DataType type, const std::vector<int64_t>& sizes) {
  return fmt::format("{}[{}]", name_of(type), fmt::join(sizes, ", "));
}

}  // namespace stria
