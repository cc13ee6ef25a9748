// SPDX-License-Identifier: Apache-2.0
// What the bits of an element mean, written down without the code under test: elements as exact
// numbers, numbers as elements, and the unit in the last place.
#pragma once

#include <cstdint>
#include <string>

#include "stria/type/data_type.h"

namespace stria::precision {

// 113 bits: holds every element, every product of two, and every sum whose rounding could be in
// doubt.
using Exact = __float128;

// Of the float types: value bits of an element and range of its exponent.
struct FloatFormat {
  int fraction = 0;  // bits behind the leading one
  int lowest = 0;    // exponent of the smallest normal number
  int highest = 0;   // of the largest
};
FloatFormat format_of(DataType type);

// Element `index` of an array of `type`, exactly; bool and integers too.
long double load(DataType type, const void* elements, int64_t index);
// The bits of the element nearest to x toward zero, infinity for what is beyond the type. A float
// type.
uint64_t bits_of(DataType type, long double x);
// Writes the low bits of `bits`.
void store_bits(DataType type, void* elements, int64_t index, uint64_t bits);

// How far `got` is from `exact` in units of the last place of `exact` in the float `type`. Below
// the smallest normal number the unit is that of this number; infinity counts as the first number
// that the type does not have. Infinite if one of them is NaN and the other is not, or `exact` is
// infinite and `got` is not.
double ulps_apart(DataType type, Exact got, Exact exact);
// How many units of the last place of `exact` make 1.
long double units(DataType type, Exact exact);

bool is_nan(Exact x);
bool is_infinite(Exact x);
// Shortest decimal for people and hexadecimal for a test: "0.1 (0x1.99999ap-4)".
std::string shown(Exact x);

}  // namespace stria::precision
