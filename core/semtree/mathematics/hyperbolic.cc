// SPDX-License-Identifier: Apache-2.0
// Hyperbolic sine, cosine and tangent.
#include "stria/semtree/mathematics/exp.h"
#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree::mathematics {
namespace {

// (sinh x - x) / x^3 in z = x^2, for |x| <= 1: of sinh x they lose 2^-27.5 and 2^-56.5.
constexpr double kSinh32[] = {0x1.555556p-3, 0x1.111134p-7, 0x1.9ffe92p-13, 0x1.7a15b6p-19};
constexpr double kSinh64[] = {0x1.5555555555556p-3,  0x1.11111111110a6p-7,  0x1.a01a01a02899dp-13,
                              0x1.71de3a465b1fep-19, 0x1.ae64671b17cf5p-26, 0x1.611a561df321p-33,
                              0x1.b4c75a93da79fp-41};
// (tanh x - x) / x^3 in z = x^2, for |x| <= 0.55: 2^-27.7 and 2^-58.5.
constexpr double kTanh32[] = {-0x1.55554ap-2, 0x1.110d26p-3, -0x1.b9287ap-5, 0x1.593d08p-6,
                              -0x1.9b304cp-8};
constexpr double kTanh64[] = {-0x1.555555555554fp-2,  0x1.111111111079fp-3,  -0x1.ba1ba1b97d892p-5,
                              0x1.664f485970b16p-6,   -0x1.226e2f147c737p-7, 0x1.d6d29b971f4b4p-9,
                              -0x1.7d8fd3b02d341p-10, 0x1.3483aea63f4aap-11, -0x1.e96fc6bedd505p-13,
                              0x1.5d745cab74248p-14,  -0x1.471110be411c7p-16};

Value at_most(double limit, const Value& x) { return select(limit < x, limit, x); }

// e^x / 2 and e^-x / 2 of a size x. The second does not count where the first is very large.
struct Halves {
  Value rising, falling;
};

Halves halves(const Value& size) {
  const Exponential e = exponential(at_most(size.builder->pick(90, 711), size));
  const Value rising = scaled(e.significand, e.exponent - 1);
  return {rising, 0.25 / select(rising < 0x1p60, rising, 0x1p60)};
}

}  // namespace

Value sinh_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Value size = abs(x);
  const Halves e = halves(size);
  const Value small = odd_polynomial(size, b.pick(kSinh32, kSinh64));
  return with_sign_of(select(size < 1, small, e.rising - e.falling), x);
}

Value cosh_of(const Value& x) {
  const Halves e = halves(abs(x));
  return e.rising + e.falling;
}

Value tanh_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  // Beyond, the result rounds to 1.
  const Value size = at_most(b.pick(10, 20), abs(x));
  const Exponential e = exponential(size * 2);
  const Value square = e.significand * power_of_two(e.exponent);
  const Value large = 1 - 2 / (square + 1);
  const Value small = odd_polynomial(size, b.pick(kTanh32, kTanh64));
  return with_sign_of(select(size < 0.55, small, large), x);
}

}  // namespace stria::semtree::mathematics
