// SPDX-License-Identifier: Apache-2.0
// The element types of stria. Their names are spelled the same in Stripe text, JSON, on the command
// line and here; their numbers are part of the C ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stria/base/api.h"

namespace stria {

enum class DataType : uint8_t {
  boolean = 0,  // "bool", one byte, 0 or 1
  i8 = 1,
  i16 = 2,
  i32 = 3,
  i64 = 4,
  u8 = 5,
  u16 = 6,
  u32 = 7,
  u64 = 8,
  fp16 = 9,   // IEEE binary16
  bf16 = 10,  // upper half of binary32
  fp32 = 11,
  fp64 = 12,
};
inline constexpr int kDataTypeCount = 13;

STRIA_API std::string_view name_of(DataType type);
STRIA_API std::optional<DataType> parse_data_type(std::string_view name);
// Every name, in the order of the numbers.
STRIA_API const std::vector<std::string>& data_type_names();

// Bytes of one element.
STRIA_API int64_t byte_size(DataType type);
// 1 for bool, else 8 * byte_size.
STRIA_API int bit_width(DataType type);
STRIA_API bool is_float(DataType type);
// i8 … u64; false for bool.
STRIA_API bool is_integer(DataType type);
STRIA_API bool is_signed_integer(DataType type);
STRIA_API bool is_unsigned_integer(DataType type);
// Does every value of `type` convert to `wide` as it is?
STRIA_API bool has_all_values_of(DataType wide, DataType type);

// The type a sum or product of elements of `type` is kept in while it grows: i32 for i8 and i16,
// u32 for u8 and u16, fp32 for fp16 and bf16, otherwise the type itself.
STRIA_API DataType accumulation_type(DataType type);
// The type arithmetic on `type` is done in: fp32 for fp16 and bf16 (storage types), else itself.
STRIA_API DataType compute_type(DataType type);

// The element type that a C++ type is. fp16, bf16 and bool have none: their tensors go in and out
// as bytes.
template <typename T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return DataType::fp32;
  else if constexpr (std::is_same_v<T, double>)
    return DataType::fp64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DataType::i8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DataType::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DataType::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DataType::i64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DataType::u8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DataType::u16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DataType::u32;
  else {
    static_assert(std::is_same_v<T, uint64_t>, "no element type of stria is this C++ type");
    return DataType::u64;
  }
}

}  // namespace stria
