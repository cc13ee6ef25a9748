// SPDX-License-Identifier: Apache-2.0
// The natural logarithm, for the functions that are made of it. Private to this folder.
#pragma once

#include "stria/semtree/mathematics/double_word.h"

namespace stria::semtree::mathematics {

// m * 2^exponent with m between the roots of 1/2 and 2.
struct Parts {
  Value significand;
  Value exponent;  // an integer as wide
};

// Of a positive number; subnormal ones only with `any_size`.
Parts parts_of(const Value& x, bool any_size);

// ln(x.high + x.low) + exponent * ln 2 of a normal x; relative to x, low may be any small number.
// Within 1 ULP, near 1 too. `exponent`: a real, may be null.
Value logarithm(const DoubleWord& x, const Value* exponent);

}  // namespace stria::semtree::mathematics
