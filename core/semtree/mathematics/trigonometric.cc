// SPDX-License-Identifier: Apache-2.0
// Sine, cosine and tangent of any angle.
#include "stria/semtree/mathematics/double_word.h"
#include "stria/semtree/mathematics/functions.h"
#include "stria/semtree/mathematics/range_reduction.h"

namespace stria::semtree::mathematics {
namespace {

// (sin r - r) / r^3 in z = r^2, for |r| <= pi / 4: of sin r they lose 2^-27.0 and 2^-57.1.
constexpr double kSine32[] = {-0x1.555544p-3, 0x1.11071cp-7, -0x1.99396p-13};
constexpr double kSine64[] = {-0x1.5555555555555p-3, 0x1.111111111110bp-7,   -0x1.a01a01a0189c3p-13,
                              0x1.71de3a5322a3ap-19, -0x1.ae64527b25d44p-26, 0x1.6120807289f58p-33,
                              -0x1.aa9c57379651cp-41};
// (cos r - 1 + z / 2) / z^2: 2^-31.7 and 2^-59.5.
constexpr double kCosine32[] = {0x1.55554ap-5, -0x1.6c0c12p-10, 0x1.99e204p-16};
constexpr double kCosine64[] = {0x1.555555555554ap-5,  -0x1.6c16c16c14ebp-10,
                                0x1.a01a019c6dc6ap-16, -0x1.27e4f7da1befp-22,
                                0x1.1ee9cc22badb3p-29, -0x1.8f9e7cedaa58p-37};

struct SineCosine {
  Value sine, cosine;
};

SineCosine sine_and_cosine(const Value& r) {
  FunctionBuilder& b = *r.builder;
  const Value z = r * r;
  const Value sine = fma(r * z, polynomial(z, b.pick(kSine32, kSine64)), r);
  const Value cosine = fma(fma(z, polynomial(z, b.pick(kCosine32, kCosine64)), -0.5), z, 1);
  return {sine, cosine};
}

// The sign bit, if bit 1 of the number is set.
Value sign_of_half_turn(const Value& quadrant) {
  return (quadrant & int64_t{2}) << int64_t{quadrant.builder->format().bits - 2};
}

}  // namespace

// The sign of an odd function is that of its operand, of zeros too, in whatever way the sums for
// the size treat them.
Value sin_of(const Value& x) {
  const QuarterTurn turn = quarter_turn(abs(x));
  const SineCosine both = sine_and_cosine(turn.rest);
  const Value size = select((turn.quadrant & int64_t{1}) != 0, both.cosine, both.sine);
  return from_bits(bits(size) ^ (sign_of_half_turn(turn.quadrant) ^ sign_bit(x)));
}

Value cos_of(const Value& x) {
  const QuarterTurn turn = quarter_turn(abs(x));
  const SineCosine both = sine_and_cosine(turn.rest);
  const Value size = select((turn.quadrant & int64_t{1}) != 0, both.sine, both.cosine);
  return from_bits(bits(size) ^ sign_of_half_turn(turn.quadrant + 1));
}

Value tan_of(const Value& x) {
  const Value angle = abs(x);
  const QuarterTurn turn = quarter_turn(angle);
  const SineCosine both = sine_and_cosine(turn.rest);
  const Value is_odd = (turn.quadrant & int64_t{1}) != 0;
  const Value zero = x.builder->real(0);
  const DoubleWord quotient = quotient_of({select(is_odd, both.cosine, both.sine), zero},
                                          {select(is_odd, -both.sine, both.cosine), zero});
  // The remainder of the quotient may be subnormal where the angle is not. A small angle is its own
  // tangent.
  const Value is_small = angle < x.builder->pick(0x1p-20, 0x1p-40);
  const Value tangent = select(is_small, angle, quotient.high + quotient.low);
  return from_bits(bits(tangent) ^ sign_bit(x));
}

}  // namespace stria::semtree::mathematics
