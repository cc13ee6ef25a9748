// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/mathematics/log.h"

#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree::mathematics {
namespace {

// (ln(1 + f) - f + f^2 / 2) / f^3 between the roots of 1/2 and 2, less 1; of ln(1 + f) they lose
// 2^-27.2.
constexpr double kLog32[] = {0x1.555554p-2, -0x1.000226p-2, 0x1.99a008p-3, -0x1.547244p-3,
                             0x1.22da1cp-3, -0x1.0d8544p-3, 0x1.055b72p-3, -0x1.38b58cp-4};
// (ln((1 + s) / (1 - s)) - 2 s) / s^3 in z = s^2, for f = 2 s / (1 - s): 2^-59.1.
constexpr double kLog64[] = {0x1.5555555555593p-1, 0x1.999999997fb32p-2, 0x1.249249421792cp-2,
                             0x1.c71c51e802ae6p-3, 0x1.7466462a710ecp-3, 0x1.39a0f532d897ep-3,
                             0x1.2f0d8ce7e2cd7p-3};

// ln(m) + exponent * ln 2, where `low` is a small addition to the result.
Value logarithm(const Value& m, const Value& exponent, const Value* low) {
  FunctionBuilder& b = *m.builder;
  const Value f = m - 1;
  // The first part of ln 2 has few bits: its product with the exponent is exact.
  const Value ln2 = b.real(b.pick(0x1.62e4p-1, 0x1.62e42fefa2p-1));
  Value rest = exponent * b.pick(0x1.7f7d1cp-20, 0x1.9ef35793c7673p-41);
  if (low) rest = rest + *low;
  if (b.is_fp32()) {
    const Value tail = fma(f, polynomial(f, kLog32), -0.5);
    return fma(exponent, ln2, f + fma(f * f, tail, rest));
  }
  const Value half_square = f * f * 0.5;
  const Value s = f / (f + 2);
  const Value z = s * s;
  const Value tail = fma(s, fma(z, polynomial(z, kLog64), half_square), rest);
  return fma(exponent, ln2, f - (half_square - tail));
}

}  // namespace

Parts parts_of(const Value& x, bool any_size) {
  FunctionBuilder& b = *x.builder;
  const Format& format = b.format();
  Value number = bits(x), correction = b.word(0);
  if (any_size) {
    const NormalBits normal = normal_bits(x);
    number = normal.bits;
    correction = select(normal.was_subnormal, b.word(1 - format.bias - format.fraction), b.word(0));
  }
  const Value root_of_half = bits(b.real(b.pick(0x1.6a09e6p-1, 0x1.6a09e667f3bcdp-1)));
  const Value exponent = (number - root_of_half) >> int64_t{format.fraction};
  return {from_bits(number - (exponent << int64_t{format.fraction})), exponent + correction};
}

Value logarithm(const DoubleWord& x, const Value* exponent) {
  FunctionBuilder& b = *x.high.builder;
  const Parts parts = parts_of(x.high, false);
  Value power = b.convert(b.format().real, parts.exponent);
  if (exponent) power = power + *exponent;
  const Value low = x.low / x.high;
  return logarithm(parts.significand, power, &low);
}

Value log_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Parts parts = parts_of(x, true);
  const Value result =
      logarithm(parts.significand, b.convert(b.format().real, parts.exponent), nullptr);
  const Value is_usual = is_positive_number(x);
  // Infinity and NaN stay what they are.
  const Value special = select(x == 0, -kInfinity, select(x < 0, b.nan(), x + x));
  return select(is_usual, result, special);
}

}  // namespace stria::semtree::mathematics
