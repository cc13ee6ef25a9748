// SPDX-License-Identifier: Apache-2.0
#include "stria/type/data_type.h"

#include "stria/base/status.h"

namespace stria {

namespace {

std::optional<DataType> find_type(const std::vector<std::string>& names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<DataType>(i);
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& tensor_type_names() {
  static const std::vector<std::string> names = {
      "bool", "i8",   "i16",  "i32",      "i64",      "u8",  "u16", "u32", "u64", "fp16",
      "bf16", "fp32", "fp64", "fp8_e4m3", "fp8_e5m2", "fp4", "i4",  "u4",  "i2",  "u2"};
  return names;
}

const std::vector<std::string>& data_type_names() {
  static const std::vector<std::string> names(tensor_type_names().begin(),
                                              tensor_type_names().begin() + kDataTypeCount);
  return names;
}

std::string_view name_of(DataType type) {
  size_t number = static_cast<size_t>(type);
  STRIA_CHECK(number < tensor_type_names().size(), "data type number {}", number);
  return tensor_type_names()[number];
}

std::optional<DataType> parse_data_type(std::string_view name) {
  return find_type(data_type_names(), name);
}
std::optional<DataType> parse_tensor_type(std::string_view name) {
  return find_type(tensor_type_names(), name);
}

bool is_packed(DataType type) { return static_cast<int>(type) >= kDataTypeCount; }

DataType held_type(DataType type) {
  if (!is_packed(type)) return type;
  if (is_float(type)) return DataType::fp32;
  return is_signed_integer(type) ? DataType::i8 : DataType::u8;
}

int64_t byte_size(DataType type) {
  const int bits = bit_width(type);
  STRIA_CHECK(bits >= 8 || type == DataType::boolean, "elements of {} share bytes", name_of(type));
  return type == DataType::boolean ? 1 : bits / 8;
}

int64_t bytes_of(DataType type, int64_t elements) {
  const int bits = bit_width(type);
  if (bits >= 8 || type == DataType::boolean) return elements * byte_size(type);
  const int64_t shared = 8 / bits;
  return elements / shared + (elements % shared != 0 ? 1 : 0);
}

int bit_width(DataType type) {
  switch (type) {
    case DataType::boolean: return 1;
    case DataType::i2:
    case DataType::u2: return 2;
    case DataType::fp4:
    case DataType::i4:
    case DataType::u4: return 4;
    case DataType::i8:
    case DataType::u8:
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2: return 8;
    case DataType::i16:
    case DataType::u16:
    case DataType::fp16:
    case DataType::bf16: return 16;
    case DataType::i32:
    case DataType::u32:
    case DataType::fp32: return 32;
    case DataType::i64:
    case DataType::u64:
    case DataType::fp64: return 64;
  }
  return 0;
}

bool is_float(DataType type) { return type >= DataType::fp16 && type <= DataType::fp4; }
bool is_signed_integer(DataType type) {
  return (type >= DataType::i8 && type <= DataType::i64) || type == DataType::i4 ||
         type == DataType::i2;
}
bool is_unsigned_integer(DataType type) {
  return (type >= DataType::u8 && type <= DataType::u64) || type == DataType::u4 ||
         type == DataType::u2;
}
bool is_integer(DataType type) { return is_signed_integer(type) || is_unsigned_integer(type); }

// Integers from -2^n to 2^n are values of the type.
static int bits_of_integers(DataType type) {
  switch (type) {
    case DataType::boolean: return 0;
    case DataType::fp4: return 2;
    case DataType::fp8_e5m2: return 3;
    case DataType::fp8_e4m3: return 4;
    case DataType::bf16: return 8;
    case DataType::fp16: return 11;
    case DataType::fp32: return 24;
    case DataType::fp64: return 53;
    default: return bit_width(type) - (is_signed_integer(type) ? 1 : 0);
  }
}

bool has_all_values_of(DataType wide, DataType type) {
  if (wide == type) return true;
  if (is_float(type))  // of two floats as wide each has numbers that the other lacks
    return is_float(wide) && bit_width(wide) > bit_width(type);
  if (is_signed_integer(type) && !is_float(wide) && !is_signed_integer(wide)) return false;
  return wide != DataType::boolean && bits_of_integers(wide) >= bits_of_integers(type);
}

DataType accumulation_type(DataType type) {
  const DataType held = held_type(type);
  switch (held) {
    case DataType::i8:
    case DataType::i16: return DataType::i32;
    case DataType::u8:
    case DataType::u16: return DataType::u32;
    default: return compute_type(held);
  }
}

DataType compute_type(DataType type) {
  return type == DataType::fp16 || type == DataType::bf16 ? DataType::fp32 : held_type(type);
}

}  // namespace stria
