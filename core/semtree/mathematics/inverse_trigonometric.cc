// SPDX-License-Identifier: Apache-2.0
// Arc sine, arc cosine and arc tangent.
#include "stria/semtree/mathematics/double_word.h"
#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree::mathematics {
namespace {

// (asin t - t) / t^3 in z = t^2, for |t| <= 1/2: of asin t they lose 2^-27.3 and 2^-59.0.
constexpr double kArcSine32[] = {0x1.5555c8p-3, 0x1.3301e4p-4, 0x1.747e4ap-5, 0x1.8c2836p-6,
                                 0x1.596d2ep-5};
constexpr double kArcSine64[] = {0x1.5555555555577p-3, 0x1.333333332e101p-4, 0x1.6db6db72142dep-5,
                                 0x1.f1c71a946476cp-6, 0x1.6e8bdeeddb23p-6,  0x1.1c49ef8380124p-6,
                                 0x1.ca1f9fddf3642p-7, 0x1.7584ff5345f32p-7, 0x1.613f5b0a23cd4p-7,
                                 0x1.e5cde90286aedp-9, 0x1.63a7c6b55f0fp-6,  -0x1.580ca3ca9508p-6,
                                 0x1.0b4b3d2fcd772p-5};
// (atan t - t) / t^3 in z = t^2: for |t| <= 1 2^-26.2, for |t| <= tan(pi / 8) 2^-58.5.
constexpr double kArcTangent32[] = {-0x1.55553ep-2, 0x1.9991fep-3,  -0x1.2421b6p-3,
                                    0x1.c09ap-4,    -0x1.583496p-4, 0x1.dac9f8p-5,
                                    -0x1.fed188p-6, 0x1.65a686p-7,  -0x1.d63038p-10};
constexpr double kArcTangent64[] = {
    -0x1.555555555553cp-2, 0x1.9999999995697p-3, -0x1.24924922a24d5p-3, 0x1.c71c70e1cd0f8p-4,
    -0x1.745cf862930b7p-4, 0x1.3b1110a52a346p-4, -0x1.10eb57cb0277bp-4, 0x1.df09c9080a4f9p-5,
    -0x1.9cb9c89b29259p-5, 0x1.3795db6536e82p-5, -0x1.24ddbd4492412p-6};

// pi / 2 is high + low.
double half_pi(FunctionBuilder& b) { return b.pick(0x1.921fb6p0, 0x1.921fb54442d18p0); }
double half_pi_low(FunctionBuilder& b) { return b.pick(-0x1.777a5cp-25, 0x1.1a62633145c07p-54); }

// What arc sine and arc cosine share. asin t = t + t * tail. Up to 1/2 t is the operand's size;
// beyond, asin x = pi / 2 - 2 asin t with t the root of (1 - x) / 2, which is root.high + root.low.
struct ArcSine {
  Value size, is_large, tail;
  DoubleWord root;
};

ArcSine arc_sine(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Value size = abs(x);
  const Value is_large = 0.5 <= size;
  const Value z = select(is_large, abs(1 - size) * 0.5, size * size);
  return {size, is_large, z * polynomial(z, b.pick(kArcSine32, kArcSine64)),
          root_of({z, b.real(0)})};
}

}  // namespace

Value asin_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const ArcSine a = arc_sine(x);
  const Value small = fma(a.size, a.tail, a.size);
  const Value t = a.root.high + a.root.low;
  const Value rest = (t * 2) * a.tail - (half_pi_low(b) - a.root.low * 2);
  const Value quarter = b.real(half_pi(b) / 2);
  const Value large = quarter - (rest - (quarter - a.root.high * 2));
  const Value result = with_sign_of(select(a.is_large, large, small), x);
  return select(a.size <= 1, result, b.nan());
}

Value acos_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const ArcSine a = arc_sine(x);
  const Value small = half_pi(b) - (x - (half_pi_low(b) - x * a.tail));
  const Value t = a.root.high + a.root.low;
  const Value positive = (a.root.high + (a.root.low + t * a.tail)) * 2;
  const Value negative = 2 * half_pi(b) - (t + (t * a.tail - half_pi_low(b))) * 2;
  const Value result = select(a.is_large, select(x < 0, negative, positive), small);
  return select(a.size <= 1, result, b.nan());
}

Value atan_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Value size = abs(x);
  // Large t turn into -1 / t, a quarter turn further on, and in fp64 middle ones into
  // (t - 1) / (t + 1), an eighth of a turn further on.
  const Value is_large = b.pick(1, 0x1.3504f333f9de6p1) < size;
  const Value finite = select(size < 0x1p60, size, 0x1p60);
  Value dividend = b.real(-1), divisor = select(is_large, finite, 1), is_turned = is_large;
  Value high = select(is_large, half_pi(b), b.real(0));
  Value low = select(is_large, half_pi_low(b), b.real(0));
  if (!b.is_fp32()) {
    is_turned = 0x1.a827999fcef32p-2 < size;
    dividend = select(is_large, dividend, size - 1);
    divisor = select(is_large, divisor, size + 1);
    high = select(is_large, high, select(is_turned, half_pi(b) / 2, b.real(0)));
    low = select(is_large, low, select(is_turned, half_pi_low(b) / 2, b.real(0)));
  }
  const Value t = select(is_turned, dividend / divisor, size);
  const Value z = t * t;
  const Value tail = (t * z) * polynomial(z, b.pick(kArcTangent32, kArcTangent64));
  const Value result = high + (t + (tail + low));
  return with_sign_of(result, x);
}

}  // namespace stria::semtree::mathematics
