// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits and less: what their bits mean, and the nearest of their numbers. Bit exact.
#pragma once

#include <cstdint>

#include "stria/type/data_type.h"

namespace stria {

// A sign, then the exponent, then the fraction. Plain value.
struct SmallFloat {
  enum class Special : uint8_t {
    none,      // finite numbers only
    last_nan,  // the largest pattern is NaN, there is no infinity
    ieee,      // the last exponent is infinity and NaN
    zero_nan,  // what would be -0 is NaN, there is no infinity and no -0
  };
  int bits;  // of an element, 8 at most
  int fraction_bits;
  int bias;        // of the exponent
  double largest;  // finite
  Special special;
  // Of normal numbers: 2^lowest_exponent() is the smallest, and `largest` is below
  // 2^(highest_exponent() + 1).
  constexpr int lowest_exponent() const { return 1 - bias; }
  int highest_exponent() const;
  // Patterns without a sign. 0 where the format has none.
  uint32_t infinity_bits() const;
  uint32_t nan_bits() const;
};

inline constexpr SmallFloat kFp8E4m3 = {8, 3, 7, 448, SmallFloat::Special::last_nan};
inline constexpr SmallFloat kFp8E5m2 = {8, 2, 15, 57344, SmallFloat::Special::ieee};
inline constexpr SmallFloat kFp4 = {4, 1, 1, 6, SmallFloat::Special::none};

// Null for types that are none of these.
const SmallFloat* small_float_of(DataType type);

// The number that the lowest bits of `bits` mean.
double small_float_from_bits(const SmallFloat& format, uint32_t bits);
// The pattern of the nearest number, ties to even. Beyond the largest (from half way to where the
// next one would be): infinity; NaN if there is none; the largest number if there is neither. NaN
// is 0 where the format has none; else it loses its sign.
uint32_t bits_from_double(const SmallFloat& format, double value);

}  // namespace stria
