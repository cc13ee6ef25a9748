// SPDX-License-Identifier: Apache-2.0
#include "stria/type/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria {
namespace {

using Special = SmallFloat::Special;

}  // namespace

int SmallFloat::highest_exponent() const { return std::ilogb(largest); }

uint32_t SmallFloat::infinity_bits() const {
  if (special != Special::ieee) return 0;
  return ((1U << (bits - 1 - fraction_bits)) - 1) << fraction_bits;
}

uint32_t SmallFloat::nan_bits() const {
  switch (special) {
    case Special::none: return 0;
    case Special::last_nan: return (1U << (bits - 1)) - 1;
    case Special::ieee: return infinity_bits() | 1U << (fraction_bits - 1);
    case Special::zero_nan: return 1U << (bits - 1);
  }
  return 0;
}

const SmallFloat* small_float_of(DataType type) {
  switch (type) {
    case DataType::fp8_e4m3: return &kFp8E4m3;
    case DataType::fp8_e5m2: return &kFp8E5m2;
    case DataType::fp4: return &kFp4;
    default: return nullptr;
  }
}

double small_float_from_bits(const SmallFloat& format, uint32_t bits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const uint32_t sign = bits >> (format.bits - 1) & 1;
  const uint32_t rest = bits & ((1U << (format.bits - 1)) - 1);
  const uint32_t fraction = rest & ((1U << format.fraction_bits) - 1);
  const auto exponent = static_cast<int>(rest >> format.fraction_bits);
  if (format.special == Special::last_nan && rest == format.nan_bits()) return nan;
  if (format.special == Special::zero_nan && sign && rest == 0) return nan;
  double size;
  if (format.special == Special::ieee && rest >= format.infinity_bits()) {
    if (fraction) return nan;
    size = std::numeric_limits<double>::infinity();
  } else {
    const uint32_t significand = exponent ? fraction | 1U << format.fraction_bits : fraction;
    size = std::ldexp(static_cast<double>(significand),
                      (exponent ? exponent : 1) - format.bias - format.fraction_bits);
  }
  return sign ? -size : size;
}

uint32_t bits_from_double(const SmallFloat& format, double value) {
  if (std::isnan(value)) return format.nan_bits();
  const double size = std::fabs(value);
  int exponent = size == 0
                     ? format.lowest_exponent()
                     : std::clamp(std::isinf(size) ? format.highest_exponent() : std::ilogb(size),
                                  format.lowest_exponent(), format.highest_exponent());
  // In units of the last digit; nearbyint rounds ties to even.
  double digits = std::nearbyint(std::ldexp(size, format.fraction_bits - exponent));
  uint32_t bits = 0;
  if (std::ldexp(digits, exponent - format.fraction_bits) > format.largest) {
    if (format.special == Special::last_nan || format.special == Special::zero_nan)
      return format.nan_bits();
    bits = format.special == Special::ieee ? format.infinity_bits() : (1U << (format.bits - 1)) - 1;
  } else {
    if (digits >= std::ldexp(1, format.fraction_bits + 1)) digits /= 2, ++exponent;
    // The leading digit of a normal number adds one to the exponent.
    bits = static_cast<uint32_t>(exponent - format.lowest_exponent()) << format.fraction_bits;
    bits += static_cast<uint32_t>(digits);
  }
  const bool negative = std::signbit(value) && (format.special != Special::zero_nan || bits != 0);
  return bits | (negative ? 1U << (format.bits - 1) : 0);
}

}  // namespace stria
