// SPDX-License-Identifier: Apache-2.0
// The exponential function as a significand and an exponent, for the functions that are made of it.
// Private to this folder.
#pragma once

#include "stria/semtree/mathematics/double_word.h"

namespace stria::semtree::mathematics {

// e^x = significand * 2^exponent, with the significand between 0.7 and 1.42.
struct Exponential {
  Value significand;
  Value exponent;  // an integer as wide
};

// Of x.high + x.low, for |x.high| below 150 (fp32), 1500 (fp64); NaN gives a NaN significand and
// any exponent. Within 1.1 ULP.
Exponential exponential(const DoubleWord& x);
Exponential exponential(const Value& x);
// x, no further from 0 than where e^x has left the type.
Value within_exponents(const Value& x);
// a * 2^exponent, rounded once; for exponents up to twice those of normal numbers.
Value scaled(const Value& a, const Value& exponent);

}  // namespace stria::semtree::mathematics
