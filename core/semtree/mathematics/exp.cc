// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/mathematics/exp.h"

#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree::mathematics {
namespace {

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2; of e^r they lose 2^-27.8 and 2^-60.6.
constexpr double kExp32[] = {0x1.fffffcp-2, 0x1.55549p-3, 0x1.5558f8p-5, 0x1.123b04p-7,
                             0x1.6a225p-10};
constexpr double kExp64[] = {0x1p-1,
                             0x1.5555555555555p-3,
                             0x1.555555555555bp-5,
                             0x1.1111111111114p-7,
                             0x1.6c16c16c13fcbp-10,
                             0x1.a01a01a01794p-13,
                             0x1.a01a01b1d4d46p-16,
                             0x1.71de3a626d7p-19,
                             0x1.27e4c39ca755bp-22,
                             0x1.ae640eda0fa76p-26,
                             0x1.1f981d7de3a03p-29,
                             0x1.61e9b037c3f52p-33};

Exponential exponential(const Value& x, const Value* low) {
  FunctionBuilder& b = *x.builder;
  // The sum has its unit at 2^0, so its last bits are the integer nearest to x / ln 2.
  const double shift = b.pick(0x1.8p23, 0x1.8p52);
  const Value near = fma(x, b.real(b.pick(0x1.715476p0, 0x1.71547652b82fep0)), shift);
  const Value n = near - shift;
  // ln 2 in two parts; n times the first one is exact, and so is the difference.
  Value r = fma(n, b.real(b.pick(-0x1.62e4p-1, -0x1.62e42fefa2p-1)), x);
  r = fma(n, b.real(b.pick(-0x1.7f7d1cp-20, -0x1.9ef35793c7673p-41)), r);
  if (low) r = r + *low;
  return {1 + fma(r * r, polynomial(r, b.pick(kExp32, kExp64)), r),
          bits(near) - bits(b.real(shift))};
}

}  // namespace

Exponential exponential(const DoubleWord& x) { return exponential(x.high, &x.low); }
Exponential exponential(const Value& x) { return exponential(x, nullptr); }

Value within_exponents(const Value& x) {
  // The results round to 0 and to infinity.
  const double least = x.builder->pick(-104.5, -746), most = x.builder->pick(89, 710);
  const Value not_less = select(x < least, least, x);
  return select(most < not_less, most, not_less);
}

Value scaled(const Value& a, const Value& exponent) {
  // The first product is exact.
  const Value half = exponent >> int64_t{1};
  return (a * power_of_two(half)) * power_of_two(exponent - half);
}

Value exp_of(const Value& x) {
  const Exponential e = exponential(within_exponents(x));
  return scaled(e.significand, e.exponent);
}

}  // namespace stria::semtree::mathematics
