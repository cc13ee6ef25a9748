// SPDX-License-Identifier: Apache-2.0
// Types and elements of ONNX tensors as those that Tile has.
#include <bit>
#include <cstring>
#include <limits>

#include "stria/base/status.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx {

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
    default: return std::nullopt;
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
  }
  return ElementType::undefined;
}

Result<HostTensor> host_tensor_of(const TensorData& data) {
  const std::optional<DataType> type = tile_type_of(data.type);
  if (!type)
    return unsupported("tensor '{}' has elements of type {}", data.name, name_of(data.type));
  STRIA_ASSIGN(HostTensor out, HostTensor::create(*type, data.dims, data.name));
  if (out.byte_count() != data.bytes.size())
    return invalid_argument("tensor '{}' has {} bytes of elements, its sizes ask for {}", data.name,
                            data.bytes.size(), out.byte_count());
  if (!data.bytes.empty()) std::memcpy(out.data(), data.bytes.data(), data.bytes.size());
  return out;
}

}  // namespace stria::onnx
