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

std::vector<int64_t> packed_sizes(DataType type, const std::vector<int64_t>& sizes) {
  const int64_t shared = 8 / bit_width(type);
  std::vector<int64_t> out = sizes;
  if (shared == 1) return out;
  if (!out.empty() && out.back() % shared == 0) {
    out.back() /= shared;
    return out;
  }
  return {bytes_of(type, dense_shape(type, sizes).element_count())};
}

TensorShape memory_shape(DataType type, const std::vector<int64_t>& sizes) {
  if (is_packed(type)) return dense_shape(DataType::u8, packed_sizes(type, sizes));
  return dense_shape(type, sizes);
}

Status check_sizes(DataType type, const std::vector<int64_t>& sizes, std::string_view what) {
  // Of a packed type also what it is held in has to fit.
  int64_t bytes = byte_size(held_type(type));
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
