// SPDX-License-Identifier: Apache-2.0
// The element types of stria. Their names are spelled the same in Stripe text, JSON, on the command
// line and here; their numbers are part of the C ABI.
//
// Programs compute with the first thirteen. The packed types after them are types of inputs and
// outputs alone (rule T14 of docs/semantics/types.md): inside a program their elements are held in
// i8, u8 or fp32, so that no pass and no device knows of them.
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
  // Packed: the first element in the lowest bits of the first byte, zeros behind the last one.
  fp8_e4m3 = 13,  // 3 bits of fraction, largest 448, NaN, no infinity
  fp8_e5m2 = 14,  // 2 bits of fraction, largest 57344, infinities, NaN: the upper half of fp16
  fp4 = 15,       // e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives
  i4 = 16,
  u4 = 17,
  i2 = 18,
  u2 = 19,
};
// Of the types that programs compute with; the packed ones have the numbers from here on.
inline constexpr int kDataTypeCount = 13;
inline constexpr int kAllDataTypeCount = 20;

STRIA_API std::string_view name_of(DataType type);
// One of the types that programs compute with.
STRIA_API std::optional<DataType> parse_data_type(std::string_view name);
// Their names, in the order of the numbers.
STRIA_API const std::vector<std::string>& data_type_names();
// One of the types that inputs and outputs have: also a packed one.
STRIA_API std::optional<DataType> parse_tensor_type(std::string_view name);
STRIA_API const std::vector<std::string>& tensor_type_names();

STRIA_API bool is_packed(DataType type);
// What elements of a packed type are held in while a program runs: i8, u8 or fp32. Other types:
// the type itself.
STRIA_API DataType held_type(DataType type);

// Bytes of one element. Not for types of less than 8 bits, whose elements share bytes: bytes_of.
STRIA_API int64_t byte_size(DataType type);
// Bytes of so many elements, one behind the other.
STRIA_API int64_t bytes_of(DataType type, int64_t elements);
// 1 for bool, 4 for i4; 8 * byte_size for what takes whole bytes.
STRIA_API int bit_width(DataType type);
STRIA_API bool is_float(DataType type);
// i8 … u64 and i4 … u2; false for bool.
STRIA_API bool is_integer(DataType type);
STRIA_API bool is_signed_integer(DataType type);
STRIA_API bool is_unsigned_integer(DataType type);
// Does every value of `type` convert to `wide` as it is?
STRIA_API bool has_all_values_of(DataType wide, DataType type);

// The type a sum or product of elements of `type` is kept in while it grows: i32 for i8 and i16,
// u32 for u8 and u16, fp32 for fp16 and bf16, otherwise the type itself; of a packed type, that of
// what it is held in.
STRIA_API DataType accumulation_type(DataType type);
// The type arithmetic on `type` is done in: fp32 for fp16 and bf16 (storage types), held_type for
// packed types, else itself.
STRIA_API DataType compute_type(DataType type);

// The element type that a C++ type is. fp16, bf16, bool and the packed types have none: their
// tensors go in and out as bytes.
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
