// SPDX-License-Identifier: Apache-2.0
#include "stria/type/half.h"

#include <bit>
#include <cmath>

namespace stria {
namespace {

// Rounds to a binary format with `mantissa` stored bits and exponent range [min_exponent,
// max_exponent] of normal numbers, once, ties to even.
uint16_t encode(double value, int mantissa, int min_exponent, int max_exponent) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int exponent_bits = 15 - mantissa;
  const uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa);
  if (std::isnan(value)) return sign | infinity | static_cast<uint16_t>(1 << (mantissa - 1));
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < min_exponent) exponent = min_exponent;
  // Scaled so that one unit is the last stored bit; nearbyint rounds ties to even.
  double scaled = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  if (scaled >= std::ldexp(1.0, mantissa + 1)) {
    scaled /= 2;
    ++exponent;
  }
  if (exponent > max_exponent) return sign | infinity;
  uint32_t bits = static_cast<uint32_t>(scaled);
  if (bits < (1u << mantissa)) return sign | static_cast<uint16_t>(bits);  // subnormal
  bits -= 1u << mantissa;
  return sign | static_cast<uint16_t>(
                    (static_cast<uint32_t>(exponent - min_exponent + 1) << mantissa) | bits);
}

double decode(uint16_t bits, int mantissa, int min_exponent) {
  const int exponent_bits = 15 - mantissa;
  const int exponent = (bits >> mantissa) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << mantissa) - 1);
  double value;
  if (exponent == (1 << exponent_bits) - 1) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, min_exponent - mantissa);
  } else {
    value = std::ldexp(fraction + (1 << mantissa), exponent - 1 + min_exponent - mantissa);
  }
  return bits & 0x8000 ? -value : value;
}

}  // namespace

uint16_t fp16_from_double(double value) { return encode(value, 10, -14, 15); }
double fp16_to_double(uint16_t bits) { return decode(bits, 10, -14); }
uint16_t bf16_from_double(double value) { return encode(value, 7, -126, 127); }
double bf16_to_double(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace stria
