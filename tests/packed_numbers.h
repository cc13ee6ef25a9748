// SPDX-License-Identifier: Apache-2.0
// The oracle for packed types (rules T14 and T15): what each pattern means, the nearest pattern of
// a number, and packed bytes, by enumeration and by hand.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "stria/type/data_type.h"

namespace stria {

inline constexpr DataType kPackedTypes[] = {DataType::fp8_e4m3, DataType::fp8_e5m2, DataType::fp4,
                                            DataType::i4,       DataType::u4,       DataType::i2,
                                            DataType::u2};
inline const double kNan = std::numeric_limits<double>::quiet_NaN();
inline const double kInfinity = std::numeric_limits<double>::infinity();

inline double meaning(DataType type, int bits) {
  const auto value = [&](int places, int bias) {
    const int width = bit_width(type), field = (bits & ((1 << (width - 1)) - 1)) >> places;
    const int fraction = bits & ((1 << places) - 1);
    const double size = field == 0 ? fraction * std::exp2(1 - bias - places)
                                   : (fraction + (1 << places)) * std::exp2(field - bias - places);
    return bits >> (width - 1) ? -size : size;
  };
  switch (type) {
    case DataType::fp8_e4m3: return (bits & 127) == 127 ? kNan : value(3, 7);
    case DataType::fp8_e5m2:
      if ((bits & 124) == 124) return bits & 3 ? kNan : bits & 128 ? -kInfinity : kInfinity;
      return value(2, 15);
    case DataType::fp4: return value(1, 1);
    case DataType::i4: return bits < 8 ? bits : bits - 16;
    case DataType::i2: return bits < 2 ? bits : bits - 4;
    default: return bits;
  }
}

// Of floats. Ties go to the pattern that ends in 0, as neighbours differ by one.
inline int nearest(DataType type, double x) {
  const int sign = 1 << (bit_width(type) - 1);
  if (std::isnan(x)) return type == DataType::fp8_e4m3 ? 127 : type == DataType::fp8_e5m2 ? 126 : 0;
  const int largest = type == DataType::fp8_e4m3 ? 126 : type == DataType::fp8_e5m2 ? 123 : 7;
  const double size = std::fabs(x);
  int best = 0;
  for (int bits = 1; bits <= largest; ++bits) {
    const double now = std::fabs(meaning(type, bits) - size);
    const double before = std::fabs(meaning(type, best) - size);
    if (now < before || (now == before && bits % 2 == 0)) best = bits;
  }
  // Half way to the number that would be next, which has the even pattern or does not exist.
  const double step = meaning(type, largest) - meaning(type, largest - 1);
  const double half = meaning(type, largest) + step / 2;
  const bool odd = largest % 2 == 1;
  if (size > half || (size == half && odd)) {
    if (type == DataType::fp8_e4m3) return 127;
    best = type == DataType::fp8_e5m2 ? 124 : 7;
  }
  return best | (std::signbit(x) ? sign : 0);
}

// Element `index` of packed bytes, by hand.
inline int bits_at(std::string_view bytes, DataType type, size_t index) {
  const size_t width = static_cast<size_t>(bit_width(type)), shared = 8 / width;
  const int byte = static_cast<uint8_t>(bytes[index / shared]);
  return byte >> (index % shared * width) & ((1 << width) - 1);
}

inline std::string packed(DataType type, const std::vector<int>& patterns) {
  const size_t width = static_cast<size_t>(bit_width(type)), shared = 8 / width;
  std::string bytes((patterns.size() + shared - 1) / shared, '\0');
  for (size_t n = 0; n < patterns.size(); ++n)
    bytes[n / shared] = static_cast<char>(static_cast<uint8_t>(bytes[n / shared]) |
                                          patterns[n] << (n % shared * width));
  return bytes;
}

inline std::string cast_text(DataType type, const std::string& x) {
  if (is_float(type)) return fmt::format("as_{}({})", name_of(type), x);
  return fmt::format("{}({}, {})", is_signed_integer(type) ? "as_int" : "as_uint", x,
                     bit_width(type));
}

inline bool same(float a, float b) {
  return std::isnan(b) ? std::isnan(a) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// Every number of the type, every middle between two, and the fp32 numbers beside these.
inline std::vector<float> hard_numbers(DataType type) {
  std::vector<float> out = {0.0F, -0.0F, 1e-30F, 1e30F, 3.4e38F, 70000.0F, 465.0F, 479.0F};
  std::vector<double> places;
  for (int bits = 0; bits < 1 << (bit_width(type) - 1); ++bits) {
    const double here = meaning(type, bits);
    if (!std::isfinite(here)) continue;
    places.push_back(here);
    const double next = bits + 1 < 1 << (bit_width(type) - 1) ? meaning(type, bits + 1) : kNan;
    const double before = bits > 0 ? meaning(type, bits - 1) : 0;
    places.push_back(here + (std::isfinite(next) ? next - here : here - before) / 2);
  }
  for (const double place : places) {
    const auto x = static_cast<float>(place);
    for (const float near : {x, std::nextafter(x, 1e38F), std::nextafter(x, -1e38F)})
      if (near == 0 || std::fabs(near) >= 0x1p-126F) out.push_back(near);
  }
  const size_t count = out.size();
  for (size_t n = 0; n < count; ++n) out.push_back(-out[n]);
  out.insert(out.end(), {static_cast<float>(kInfinity), -static_cast<float>(kInfinity),
                         std::numeric_limits<float>::quiet_NaN()});
  return out;
}

}  // namespace stria
