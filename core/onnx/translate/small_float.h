// SPDX-License-Identifier: Apache-2.0
// The float types below 16 bits of the standard. Tensors hold them as fp32 numbers.
#pragma once

#include <cstdint>

#include "stria/onnx/model/model.h"

namespace stria::onnx {

struct SmallFloat {
  enum class Special : uint8_t {
    none,      // finite numbers only
    last_nan,  // the largest pattern is NaN, there is no infinity
    ieee,      // the last exponent is infinity and NaN
    zero_nan,  // what would be -0 is NaN, there is no infinity and no -0
  };
  ElementType type;
  int fraction_bits;
  int bias;        // of the exponent; the smallest normal number is 2^(1 - bias)
  double largest;  // finite
  Special special;
};

// Null for other types, and for float8e8m0, which has nothing but powers of two.
const SmallFloat* small_float_of(ElementType type);
// The number that `bits` mean, in a small float or float8e8m0.
float small_float_from_bits(ElementType type, uint32_t bits);

}  // namespace stria::onnx
