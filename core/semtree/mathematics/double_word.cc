// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/mathematics/double_word.h"

namespace stria::semtree::mathematics {

Value upper(const Value& a) {
  return from_bits(bits(a) & -(int64_t{1} << a.builder->format().low_bits));
}

Value short_of_last_bit(const Value& a) { return from_bits(bits(a) & int64_t{-2}); }

DoubleWord sum_of(const Value& a, const Value& b) {
  const Value sum = a + b;
  const Value of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

DoubleWord quick_sum_of(const Value& a, const Value& b) {
  const Value sum = a + b;
  return {sum, b - (sum - a)};
}

DoubleWord product_of(const Value& a, const Value& b) {
  const Value high = short_of_last_bit(a * b);
  const Value a1 = upper(a), b1 = upper(b);
  const Value a2 = a - a1, b2 = b - b1;
  return {high, fma(a2, b2, fma(a2, b1, fma(a1, b2, fma(a1, b1, -high))))};
}

DoubleWord quotient_of(const DoubleWord& a, const DoubleWord& b) {
  const Value high = upper(a.high / b.high);
  const Value negative = -high;
  const Value b1 = upper(b.high);
  const Value b2 = b.high - b1;
  // Each product with the short quotient is exact, and the remainder is small against a.
  const Value rest = fma(negative, b2, fma(negative, b1, a.high)) + fma(negative, b.low, a.low);
  return {high, rest / b.high};
}

DoubleWord root_of(const DoubleWord& a) {
  const Value near = sqrt(a.high);
  const Value high = upper(near);
  const Value twice = near + high;
  const Value rest = fma(-high, high, a.high) + a.low;
  return {high, rest / select(twice == 0, 1, twice)};
}

}  // namespace stria::semtree::mathematics
