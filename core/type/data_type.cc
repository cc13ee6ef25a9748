// SPDX-License-Identifier: Apache-2.0
#include "stria/type/data_type.h"

#include "stria/base/status.h"

namespace stria {

const std::vector<std::string>& data_type_names() {
  static const std::vector<std::string> names = {
      "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"};
  return names;
}

std::string_view name_of(DataType type) {
  size_t number = static_cast<size_t>(type);
  STRIA_CHECK(number < data_type_names().size(), "data type number {}", number);
  return data_type_names()[number];
}

std::optional<DataType> parse_data_type(std::string_view name) {
  for (size_t i = 0; i < data_type_names().size(); ++i)
    if (data_type_names()[i] == name) return static_cast<DataType>(i);
  return std::nullopt;
}

int64_t byte_size(DataType type) {
  switch (type) {
    case DataType::boolean:
    case DataType::i8:
    case DataType::u8: return 1;
    case DataType::i16:
    case DataType::u16:
    case DataType::fp16:
    case DataType::bf16: return 2;
    case DataType::i32:
    case DataType::u32:
    case DataType::fp32: return 4;
    case DataType::i64:
    case DataType::u64:
    case DataType::fp64: return 8;
  }
  return 0;
}

int bit_width(DataType type) {
  return type == DataType::boolean ? 1 : static_cast<int>(8 * byte_size(type));
}

bool is_float(DataType type) { return type >= DataType::fp16; }
bool is_signed_integer(DataType type) { return type >= DataType::i8 && type <= DataType::i64; }
bool is_unsigned_integer(DataType type) { return type >= DataType::u8 && type <= DataType::u64; }
bool is_integer(DataType type) { return type >= DataType::i8 && type <= DataType::u64; }

// Integers from -2^n to 2^n are values of the type.
static int bits_of_integers(DataType type) {
  switch (type) {
    case DataType::boolean: return 0;
    case DataType::bf16: return 8;
    case DataType::fp16: return 11;
    case DataType::fp32: return 24;
    case DataType::fp64: return 53;
    default: return bit_width(type) - (is_signed_integer(type) ? 1 : 0);
  }
}

bool has_all_values_of(DataType wide, DataType type) {
  if (wide == type) return true;
  if (is_float(type))  // fp16 has small numbers that bf16 lacks, and bf16 large ones
    return is_float(wide) && bit_width(wide) > bit_width(type);
  if (is_signed_integer(type) && !is_float(wide) && !is_signed_integer(wide)) return false;
  return wide != DataType::boolean && bits_of_integers(wide) >= bits_of_integers(type);
}

DataType accumulation_type(DataType type) {
  switch (type) {
    case DataType::i8:
    case DataType::i16: return DataType::i32;
    case DataType::u8:
    case DataType::u16: return DataType::u32;
    default: return compute_type(type);
  }
}

DataType compute_type(DataType type) {
  return type == DataType::fp16 || type == DataType::bf16 ? DataType::fp32 : type;
}

}  // namespace stria
