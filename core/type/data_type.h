// SPDX-License-Identifier: Apache-2.0
// The element types of stria. Their names are spelled the same in Stripe text, JSON, on the command
// line and here; their numbers are part of the C ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

std::string_view name_of(DataType type);
std::optional<DataType> parse_data_type(std::string_view name);
// Every name, in the order of the numbers.
const std::vector<std::string>& data_type_names();

// Bytes of one element.
int64_t byte_size(DataType type);
// 1 for bool, else 8 * byte_size.
int bit_width(DataType type);
bool is_float(DataType type);
// i8 … u64; false for bool.
bool is_integer(DataType type);
bool is_signed_integer(DataType type);
bool is_unsigned_integer(DataType type);

// The type a sum or product of elements of `type` is kept in while it grows: i32 for i8 and i16,
// u32 for u8 and u16, fp32 for fp16 and bf16, otherwise the type itself.
DataType accumulation_type(DataType type);
// The type arithmetic on `type` is done in: fp32 for fp16 and bf16 (storage types), else itself.
DataType compute_type(DataType type);

}  // namespace stria
