// SPDX-License-Identifier: Apache-2.0
#include "stria/type/host_tensor.h"

#include <sys/sysinfo.h>

#include <cstdint>
#include <cstring>

#include "stria/base/status.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {
constexpr size_t kAlignment = 64;

// Memory and swap space of the machine.
uint64_t machine_bytes() {
  struct sysinfo info{};
  if (::sysinfo(&info) != 0) return UINT64_MAX;
  return (uint64_t{info.totalram} + info.totalswap) * info.mem_unit;
}

}  // namespace

Result<HostTensor> HostTensor::create(DataType type, std::vector<int64_t> sizes,
                                      std::string_view what) {
  STRIA_RETURN_IF_ERROR(check_sizes(type, sizes, what));
  HostTensor tensor;
  tensor.type_ = type;
  tensor.element_count_ = dense_shape(type, sizes).element_count();
  tensor.sizes_ = std::move(sizes);
  const size_t bytes = tensor.byte_count();
  const size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  // The system may promise more memory than the machine has; who writes to it would be ended.
  if (rounded <= machine_bytes())
    tensor.data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!tensor.data_)
    return make_error(StatusCode::out_of_memory, "{}: no host memory for {} bytes ({})", what,
                      bytes, to_string(type, tensor.sizes_));
  if (is_packed(type) && bytes > 0) tensor.data_.get()[bytes - 1] = std::byte{0};
  return tensor;
}

Result<HostTensor> HostTensor::view(DataType type, std::vector<int64_t> sizes,
                                    std::string_view bytes, std::shared_ptr<const void> owner,
                                    std::string_view what) {
  STRIA_RETURN_IF_ERROR(check_sizes(type, sizes, what));
  HostTensor tensor;
  tensor.type_ = type;
  tensor.element_count_ = dense_shape(type, sizes).element_count();
  tensor.sizes_ = std::move(sizes);
  if (tensor.byte_count() != bytes.size())
    return invalid_argument("{}: {} bytes, but {} has {}", what, bytes.size(),
                            to_string(type, tensor.sizes_), tensor.byte_count());
  tensor.data_ = {reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data())),
                  Free{std::move(owner)}};
  return tensor;
}

bool HostTensor::is_aligned() const {
  return is_packed(type_) ||
         reinterpret_cast<uintptr_t>(data()) % static_cast<uintptr_t>(byte_size(type_)) == 0;
}

Result<HostTensor> HostTensor::clone() const {
  STRIA_ASSIGN(HostTensor copy, create(type_, sizes_, "copy of a tensor"));
  if (byte_count() > 0) std::memcpy(copy.data(), data(), byte_count());
  return copy;
}

void HostTensor::reinterpret_as(DataType type) {
  STRIA_CHECK(byte_size(type) == byte_size(type_), "{} has another size than {}", name_of(type),
              name_of(type_));
  type_ = type;
}

}  // namespace stria
