// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/kernels/strided_tensor.h"

#include <cstring>

#include "stria/hal/buffer.h"
#include "stria/type/scalar.h"

namespace stria {
namespace {

// Calls visit(position row by row, offset) for each element.
template <typename Visit>
void for_each_element(const TensorShape& shape, const Visit& visit) {
  const std::vector<int64_t> sizes = shape.sizes();
  std::vector<int64_t> at(sizes.size(), 0);
  for (int64_t e = 0, count = shape.element_count(); e < count; ++e) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * shape.dims[d].stride;
    visit(e, offset);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == sizes[d];) at[d] = 0;
  }
}

}  // namespace

Result<StridedTensor> read_strided(const TensorShape& shape, uint64_t bytes,
                                   const hal::Argument& place) {
  StridedTensor out{std::vector<std::byte>(bytes), shape};
  STRIA_ASSIGN(hal::Mapping mapping, place.buffer.map_read({}, place.offset, bytes));
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  if (bytes > 0) std::memcpy(out.bytes.data(), mapping.data(), bytes);
  STRIA_ASSIGN(const hal::Event done, mapping.unmap());
  STRIA_RETURN_IF_ERROR(done.wait());
  return out;
}

Status write_strided(const StridedTensor& tensor, const hal::Argument& place) {
  const uint64_t bytes = tensor.bytes.size();
  STRIA_ASSIGN(hal::Mapping mapping, place.buffer.map_discard({}, place.offset, bytes));
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  if (bytes > 0) std::memcpy(mapping.data(), tensor.bytes.data(), bytes);
  STRIA_ASSIGN(const hal::Event done, mapping.unmap());
  return done.wait();
}

Result<HostTensor> dense(const std::string& name, const StridedTensor& from) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(from.shape.type, from.shape.sizes(), name));
  for_each_element(from.shape, [&](int64_t element, int64_t offset) {
    store_scalar(from.shape.type, out.data(), element,
                 load_scalar(from.shape.type, from.bytes.data(), offset));
  });
  return out;
}

StridedTensor strided(const HostTensor& from, const TensorShape& shape, uint64_t bytes) {
  StridedTensor out{std::vector<std::byte>(bytes), shape};
  for_each_element(shape, [&](int64_t element, int64_t offset) {
    store_scalar(shape.type, out.bytes.data(), offset,
                 load_scalar(shape.type, from.data(), element));
  });
  return out;
}

interp::TensorArg argument_of(const std::string& name, StridedTensor& tensor) {
  return {name, tensor.bytes.data(), tensor.shape};
}

}  // namespace stria
