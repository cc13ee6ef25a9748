// SPDX-License-Identifier: Apache-2.0
// The exact remainder of a division of floats, in integers: both operands are a significand times a
// power of two, and the power of the first is taken off in steps that reduce what is left.
#include "stria/semtree/mathematics/exp.h"
#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree::mathematics {
namespace {

// size = significand * 2^exponent * the smallest subnormal number.
struct Integers {
  Value significand, exponent;
};

Integers integers_of(const Value& size) {
  FunctionBuilder& b = *size.builder;
  const Format& format = b.format();
  const Value number = bits(size);
  const Value field = number >> int64_t{format.fraction};
  const Value fraction = number & ((int64_t{1} << format.fraction) - 1);
  const Value is_normal = field != 0;
  return {select(is_normal, fraction | (int64_t{1} << format.fraction), fraction),
          select(is_normal, field - 1, b.word(0))};
}

class Reduction {
 public:
  explicit Reduction(const Value& divisor)
      : b_(*divisor.builder),
        divisor_(divisor),
        inverse_(1 / b_.convert(b_.format().real, divisor)) {}

  // value * 2^shift modulo the divisor, for a value below it and shifts up to kStep. The quotient
  // by the inverse is off by less than 1 and cut off; the wrapped difference is right.
  Value step(const Value& value, const Value& shift) const {
    const Value real = b_.convert(b_.format().real, value) * inverse_ * power_of_two(shift);
    const Value quotient = b_.convert(b_.format().word, real);
    const Value rest = (value << shift) - quotient * divisor_;
    const Value not_negative = select(rest < 0, rest + divisor_, rest);
    return select(divisor_ <= not_negative, not_negative - divisor_, not_negative);
  }

 private:
  FunctionBuilder& b_;
  Value divisor_, inverse_;
};

}  // namespace

Value mod_of(const Value& x, const Value& y) {
  FunctionBuilder& b = *x.builder;
  const Format& format = b.format();
  const Value dividend = abs(x), divisor = abs(y);
  const Integers m = integers_of(dividend), n = integers_of(divisor);
  const Value safe = select(n.significand == 0, b.word(1), n.significand);
  const Value is_less = dividend < divisor;
  const Value power = select(is_less, b.word(0), m.exponent - n.exponent);
  // power = steps * step + first; the product with a rounded inverse is right for all powers.
  const int64_t step = b.is_fp32() ? 20 : 48;
  const Value steps =
      b.is_fp32() ? (power * b.word(205)) >> int64_t{12} : (power * b.word(1366)) >> int64_t{16};
  const Value first = power - steps * b.word(step);
  const Reduction reduction(safe);
  Value rest = reduction.step(m.significand % safe, first);
  for (int64_t count = b.is_fp32() ? 8 : 32; count > 0; count /= 2) {
    rest = b.choose((steps & count) != 0,
                    [&] {
                      Value reduced = rest;
                      for (int64_t i = 0; i < count; ++i)
                        reduced = reduction.step(reduced, b.word(step));
                      return reduced;
                    },
                    rest);
  }
  const Value least = n.exponent - static_cast<double>(format.bias + format.fraction - 1);
  const Value size = scaled(b.convert(format.real, rest), least);
  const Value undefined = (divisor == 0) | is_nan(y) | !is_finite(x);
  return select(undefined, b.nan(), with_sign_of(select(is_less, dividend, size), x));
}

}  // namespace stria::semtree::mathematics
