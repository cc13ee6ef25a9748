// SPDX-License-Identifier: Apache-2.0
#include "float_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace stria::precision {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64,
              "the references need more digits than fp64 has");

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
T read(const void* elements, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(elements) + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
}

double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

float brain_value(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

}  // namespace

FloatFormat format_of(DataType type) {
  switch (type) {
    case DataType::fp16: return {10, -14, 15};
    case DataType::bf16: return {7, -126, 127};
    case DataType::fp32: return {23, -126, 127};
    default: return {52, -1022, 1023};
  }
}

long double load(DataType type, const void* elements, int64_t index) {
  switch (type) {
    case DataType::boolean:
    case DataType::u8: return read<uint8_t>(elements, index);
    case DataType::i8: return read<int8_t>(elements, index);
    case DataType::i16: return read<int16_t>(elements, index);
    case DataType::i32: return read<int32_t>(elements, index);
    case DataType::i64: return read<int64_t>(elements, index);
    case DataType::u16: return read<uint16_t>(elements, index);
    case DataType::u32: return read<uint32_t>(elements, index);
    case DataType::u64: return read<uint64_t>(elements, index);
    case DataType::fp16: return half_value(read<uint16_t>(elements, index));
    case DataType::bf16: return brain_value(read<uint16_t>(elements, index));
    case DataType::fp32: return read<float>(elements, index);
    case DataType::fp64: return read<double>(elements, index);
    default: return 0;  // packed: no function computes with them
  }
}

uint64_t bits_of(DataType type, long double x) {
  const FloatFormat format = format_of(type);
  const int exponent_bits = bit_width(type) - 1 - format.fraction;
  const uint64_t sign = static_cast<uint64_t>(std::signbit(x)) << (bit_width(type) - 1);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << format.fraction;
  if (std::isnan(x)) return infinity | uint64_t{1} << (format.fraction - 1);
  const long double size = std::fabs(x);
  if (size >= std::ldexp(1.0L, format.highest + 1)) return sign | infinity;
  if (size < std::ldexp(1.0L, format.lowest))
    return sign | static_cast<uint64_t>(std::ldexp(size, format.fraction - format.lowest));
  const int exponent = std::ilogb(size);
  // The leading one adds 1 to the exponent field.
  const auto digits = static_cast<uint64_t>(std::ldexp(size, format.fraction - exponent));
  return sign | ((static_cast<uint64_t>(exponent - format.lowest) << format.fraction) + digits);
}

void store_bits(DataType type, void* elements, int64_t index, uint64_t bits) {
  if (type == DataType::boolean) bits &= 1;
  const auto size = static_cast<size_t>(byte_size(type));
  std::memcpy(static_cast<char*>(elements) + static_cast<size_t>(index) * size, &bits, size);
}

bool is_nan(Exact x) { return x != x; }
bool is_infinite(Exact x) { return !is_nan(x) && is_nan(x - x); }

double ulps_apart(DataType type, Exact got, Exact exact) {
  if (is_nan(got) || is_nan(exact)) return is_nan(got) == is_nan(exact) ? 0 : kInfinity;
  if (got == exact) return 0;
  const FloatFormat format = format_of(type);
  if (is_infinite(exact)) return kInfinity;
  // A number that is too large for the type counts as the first one beyond it.
  const Exact beyond = std::ldexp(1.0L, format.highest + 1);
  if (is_infinite(got)) {
    if ((got > 0) != (exact > 0)) return kInfinity;
    got = got > 0 ? beyond : -beyond;
    if (exact >= beyond || exact <= -beyond) return 0;
  }
  return static_cast<double>(std::fabs(static_cast<long double>(got - exact)) * units(type, exact));
}

long double units(DataType type, Exact exact) {
  const FloatFormat format = format_of(type);
  const auto size = std::fabs(static_cast<long double>(exact));
  int exponent = size == 0 ? format.lowest : std::max(std::ilogb(size), format.lowest);
  exponent = std::min(exponent, format.highest);
  return std::ldexp(1.0L, format.fraction - exponent);
}

std::string shown(Exact x) {
  const auto value = static_cast<double>(x);
  return fmt::format("{} ({:a})", value, value);
}

}  // namespace stria::precision
