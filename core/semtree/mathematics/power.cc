// SPDX-License-Identifier: Apache-2.0
// x to the power of y: e^(y ln x), with the logarithm and the product in two words, since an error
// of the exponent grows with its size.
#include "stria/semtree/mathematics/double_word.h"
#include "stria/semtree/mathematics/exp.h"
#include "stria/semtree/mathematics/functions.h"
#include "stria/semtree/mathematics/log.h"

namespace stria::semtree::mathematics {
namespace {

// (ln((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5 in z = s^2, between the roots of 1/2 and 2: of the
// logarithm they lose 2^-36 and 2^-66.
constexpr double kPower32[] = {0x1.999ap-2, 0x1.245278p-2, 0x1.dfa34ap-3};
constexpr double kPower64[] = {0x1.9999999999996p-2, 0x1.2492492493049p-2, 0x1.c71c71c57e00ep-3,
                               0x1.745d18337a035p-3, 0x1.3b1362674c58fp-3, 0x1.1120c17932255p-3,
                               0x1.de318f847a76dp-4, 0x1.eb20cc0643253p-4};

// ln x of a positive number; high has the upper half of the bits.
DoubleWord precise_logarithm(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Parts parts = parts_of(x, true);
  const Value& m = parts.significand;
  // s = (m - 1) / (m + 1), and z = s^2.
  const DoubleWord s = quotient_of({m - 1, b.real(0)}, sum_of(m, b.real(1)));
  const Value both = s.high + s.low;
  const Value square = s.high * s.high;
  const Value z1 = upper(square);
  const Value z2 = fma(s.low, s.high + both, square - z1);
  // u = 2/3 + z * polynomial(z), by the upper half of 2/3 and its rest.
  const Value tail = (z1 + z2) * polynomial(z1 + z2, b.pick(kPower32, kPower64));
  const double first = b.pick(0x1.554p-1, 0x1.555555p-1);
  const double second = b.pick(0x1.555556p-13, 0x1.5555555555555p-27);
  const Value u1 = upper(first + (tail + second));
  const Value u2 = ((first - u1) + tail) + second;
  // g = 2 + z u: ln m = s g.
  const Value least = fma(z1, u2, z2 * (u1 + u2));
  const Value g1 = upper(2 + fma(z1, u1, least));
  const Value g2 = fma(z1, u1, 2 - g1) + least;
  // ln x = s g + exponent * ln 2, whose first part times the exponent is exact.
  const Value exponent = b.convert(b.format().real, parts.exponent);
  const Value turns = exponent * b.pick(0x1.62e4p-1, 0x1.62e42fefa2p-1);
  const DoubleWord sum = sum_of(turns, s.high * g1);
  const Value small = fma(s.low, g1 + g2, s.high * g2);
  const Value ln2_rest = b.real(b.pick(0x1.7f7d1cp-20, 0x1.9ef35793c7673p-41));
  const Value rest = sum.low + fma(exponent, ln2_rest, small);
  const Value high = upper(sum.high + rest);
  return {high, (sum.high - high) + rest};
}

}  // namespace

Value pow_of(const Value& x, const Value& y) {
  FunctionBuilder& b = *x.builder;
  const Value size = abs(x);
  const Value infinity = b.infinity();
  const Value is_number = is_positive_number(size);
  const DoubleWord log = precise_logarithm(select(is_number, size, 1));
  // No logarithm but 0 is so small that a larger y makes a difference.
  const double limit = b.pick(0x1p40, 0x1p70);
  const Value not_less = select(y < -limit, -limit, y);
  const Value factor = select(limit < not_less, limit, not_less);
  const Value y1 = upper(factor);
  const Value y2 = factor - y1;
  const Value rest = fma(y1, log.low, y2 * (log.high + log.low));
  const Value high = short_of_last_bit(fma(y1, log.high, rest));
  const Value within = within_exponents(high);
  const Value low = select(within == high, fma(y1, log.high, -high) + rest, 0);
  const Exponential e = exponential({within, low});
  const Value usual = scaled(e.significand, e.exponent);
  // 0 and infinity.
  const Value shrinks = (size == 0) ^ (y < 0);
  const Value power = select(is_number, usual, select(shrinks, 0, infinity));
  // Below zero only whole exponents have a power; odd ones keep the sign, of zeros and infinities
  // too.
  const Value half = y * 0.5;
  const Value is_whole = floor(y) == y;
  const Value is_odd = is_whole & (floor(half) != half);
  const Value is_negative = (sign_bit(x) != 0) & is_number;
  const Value signed_power = from_bits(bits(power) | select(is_odd, sign_bit(x), b.word(0)));
  const Value undefined = is_nan(x) | is_nan(y) | (is_negative & !is_whole);
  const Value result = select(undefined, b.nan(), signed_power);
  return select((x == 1) | (y == 0), 1, result);
}

}  // namespace stria::semtree::mathematics
