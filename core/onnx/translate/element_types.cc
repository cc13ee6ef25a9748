// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/element_types.h"

#include <cstring>
#include <string_view>

#include "stria/base/status.h"
#include "stria/onnx/translate/small_float.h"
#include "stria/type/converted_tensor.h"
#include "stria/type/scalar.h"

namespace stria::onnx {
namespace {

// A file of a few bytes may ask for any number of zeros.
constexpr int64_t kMostOfSparse = int64_t{1} << 28;

// Element `index` of elements of up to 8 bits, the first in the lowest bits of the first byte.
uint32_t packed_bits(std::string_view bytes, int64_t index, int bits) {
  const int64_t first = index * bits;
  const auto byte = static_cast<size_t>(first / 8);
  uint32_t word = static_cast<uint8_t>(bytes[byte]);
  if (byte + 1 < bytes.size()) word |= uint32_t{static_cast<uint8_t>(bytes[byte + 1])} << 8;
  return (word >> (first % 8)) & ((1U << bits) - 1);
}

}  // namespace

std::optional<DataType> tile_type_of(ElementType type) {
  switch (type) {
    case ElementType::fp32: return DataType::fp32;
    case ElementType::fp64: return DataType::fp64;
    case ElementType::fp16: return DataType::fp16;
    case ElementType::bf16: return DataType::bf16;
    case ElementType::u8: return DataType::u8;
    case ElementType::u16: return DataType::u16;
    case ElementType::u32: return DataType::u32;
    case ElementType::u64: return DataType::u64;
    case ElementType::i8: return DataType::i8;
    case ElementType::i16: return DataType::i16;
    case ElementType::i32: return DataType::i32;
    case ElementType::i64: return DataType::i64;
    case ElementType::boolean: return DataType::boolean;
    case ElementType::u4:
    case ElementType::u2: return DataType::u8;
    case ElementType::i4:
    case ElementType::i2: return DataType::i8;
    case ElementType::fp8e4m3fn:
    case ElementType::fp8e4m3fnuz:
    case ElementType::fp8e5m2:
    case ElementType::fp8e5m2fnuz:
    case ElementType::fp8e8m0:
    case ElementType::fp6e2m3:
    case ElementType::fp6e3m2:
    case ElementType::fp4e2m1: return DataType::fp32;
    default: return std::nullopt;
  }
}

std::optional<DataType> outside_type_of(ElementType type) {
  switch (type) {
    case ElementType::fp8e4m3fn: return DataType::fp8_e4m3;
    case ElementType::fp8e5m2: return DataType::fp8_e5m2;
    case ElementType::fp4e2m1: return DataType::fp4;
    case ElementType::i4: return DataType::i4;
    case ElementType::u4: return DataType::u4;
    case ElementType::i2: return DataType::i2;
    case ElementType::u2: return DataType::u2;
    default: return tile_type_of(type);
  }
}

ElementType element_type_of(DataType type) {
  switch (type) {
    case DataType::fp32: return ElementType::fp32;
    case DataType::fp64: return ElementType::fp64;
    case DataType::fp16: return ElementType::fp16;
    case DataType::bf16: return ElementType::bf16;
    case DataType::u8: return ElementType::u8;
    case DataType::u16: return ElementType::u16;
    case DataType::u32: return ElementType::u32;
    case DataType::u64: return ElementType::u64;
    case DataType::i8: return ElementType::i8;
    case DataType::i16: return ElementType::i16;
    case DataType::i32: return ElementType::i32;
    case DataType::i64: return ElementType::i64;
    case DataType::boolean: return ElementType::boolean;
    case DataType::fp8_e4m3: return ElementType::fp8e4m3fn;
    case DataType::fp8_e5m2: return ElementType::fp8e5m2;
    case DataType::fp4: return ElementType::fp4e2m1;
    case DataType::i4: return ElementType::i4;
    case DataType::u4: return ElementType::u4;
    case DataType::i2: return ElementType::i2;
    case DataType::u2: return ElementType::u2;
  }
  return ElementType::undefined;
}

ElementType element_of(const Value& value) {
  return value.element == ElementType::undefined ? element_type_of(value.type.type) : value.element;
}

Result<HostTensor> host_tensor_of(const TensorData& data) {
  const std::optional<DataType> type = tile_type_of(data.type);
  if (!type)
    return unsupported("tensor '{}' has elements of type {}", data.name, name_of(data.type));
  // The file stays mapped: weights take memory of their own only where they become other elements.
  if (element_type_of(*type) == data.type && data.owner)
    return HostTensor::view(*type, data.dims, data.bytes, data.owner, data.name);
  STRIA_ASSIGN(HostTensor out, HostTensor::create(*type, data.dims, data.name));
  const int64_t bits = bits_of(data.type);
  const auto bytes = static_cast<size_t>((out.element_count() * bits + 7) / 8);
  if (bytes != data.bytes.size())
    return invalid_argument("tensor '{}' has {} bytes of elements, its sizes ask for {}", data.name,
                            data.bytes.size(), bytes);
  if (element_type_of(*type) == data.type) {
    if (bytes) std::memcpy(out.data(), data.bytes.data(), bytes);
    return out;
  }
  for (int64_t e = 0; e < out.element_count(); ++e) {
    const uint32_t pattern = packed_bits(data.bytes, e, static_cast<int>(bits));
    if (*type == DataType::fp32) {
      store_scalar(*type, out.data(), e,
                   Scalar::of_float(*type, small_float_from_bits(data.type, pattern)));
    } else {
      const bool negative = *type == DataType::i8 && (pattern >> (bits - 1)) != 0;
      const int64_t value = int64_t{pattern} - (negative ? int64_t{1} << bits : 0);
      store_scalar(*type, out.data(), e, Scalar::of_int(*type, value));
    }
  }
  return out;
}

Result<HostTensor> host_tensor_of(const SparseTensorData& data) {
  int64_t count = 1;
  for (const int64_t dim : data.dims) count *= dim;  // it fits: the reader has checked that
  if (count > kMostOfSparse)
    return unsupported("sparse tensor '{}' has {} elements, more than {}", data.values.name, count,
                       kMostOfSparse);
  STRIA_ASSIGN(const HostTensor values, host_tensor_of(data.values));
  STRIA_ASSIGN(HostTensor out, HostTensor::create(values.type(), data.dims, data.values.name));
  const auto element_bytes = static_cast<size_t>(byte_size(values.type()));
  if (out.byte_count()) std::memset(out.data(), 0, out.byte_count());
  const bool rows = data.indices.dims.size() == 2;
  const char* at = data.indices.bytes.data();
  for (int64_t value = 0; value < values.element_count(); ++value) {
    int64_t flat = 0, index = 0;
    for (size_t d = 0; d < (rows ? data.dims.size() : 1); ++d, at += sizeof index) {
      std::memcpy(&index, at, sizeof index);
      flat = rows ? flat * data.dims[d] + index : index;
    }
    std::memcpy(out.data() + static_cast<size_t>(flat) * element_bytes,
                values.data() + static_cast<size_t>(value) * element_bytes, element_bytes);
  }
  return out;
}

Result<HostTensor> outside_tensor_of(const TensorData& data) {
  const std::optional<DataType> type = outside_type_of(data.type);
  if (!type || !is_packed(*type)) return host_tensor_of(data);
  STRIA_ASSIGN(HostTensor out, HostTensor::create(*type, data.dims, data.name));
  if (out.byte_count() != data.bytes.size())
    return invalid_argument("tensor '{}' has {} bytes of elements, its sizes ask for {}", data.name,
                            data.bytes.size(), out.byte_count());
  if (!data.bytes.empty()) std::memcpy(out.data(), data.bytes.data(), data.bytes.size());
  return out;
}

Result<std::shared_ptr<const HostTensor>> held(std::shared_ptr<const HostTensor> given) {
  if (!is_packed(given->type())) return given;
  STRIA_ASSIGN(HostTensor out, converted(*given, held_type(given->type())));
  return std::make_shared<const HostTensor>(std::move(out));
}

}  // namespace stria::onnx
