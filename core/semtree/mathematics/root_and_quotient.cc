// SPDX-License-Identifier: Apache-2.0
// Roots and quotients for languages whose own are not exact enough: an approximation from products
// alone, made right in integers. Their wrapped difference to the operand is right, since the true
// one is small. Both round to nearest, ties to even.
#include "stria/semtree/mathematics/functions.h"

namespace stria::semtree::mathematics {
namespace {

// size = number * 2^(exponent - fraction), where the number has all bits of a significand.
struct Normal {
  Value number, exponent;  // integers
};

Normal normal(const Value& size) {
  FunctionBuilder& b = *size.builder;
  const Format& format = b.format();
  const auto [field, is_small] = normal_bits(size);
  const Value number =
      (field & ((int64_t{1} << format.fraction) - 1)) | (int64_t{1} << format.fraction);
  const Value exponent =
      (field >> int64_t{format.fraction}) -
      select(is_small, b.word(2 * format.bias + format.fraction - 1), b.word(format.bias));
  return {number, exponent};
}

// number * 2^-fraction, as a real from 1 up to 2.
Value as_fraction(const Value& number) {
  const Format& format = number.builder->format();
  const int64_t one = static_cast<int64_t>(format.bias) << format.fraction;
  return from_bits((number & ((int64_t{1} << format.fraction) - 1)) | one);
}

}  // namespace

Value sqrt_of(const Value& x) {
  FunctionBuilder& b = *x.builder;
  const Format& format = b.format();
  const Normal whole = normal(x);
  const Value is_odd = whole.exponent & int64_t{1};
  const Value fraction = as_fraction(whole.number);
  const Value operand = select(is_odd != 0, fraction * 2, fraction);  // 1 up to 4
  // Newton's steps for 1 / root double its digits.
  Value inverse = from_bits(b.word(b.is_fp32() ? 0x5f3759df : 0x5fe6eb50c7b537a9) -
                            (bits(operand) >> int64_t{1}));
  const Value half = operand * 0.5;
  for (int i = 0; i < (b.is_fp32() ? 3 : 4); ++i)
    inverse = inverse * (1.5 - (half * inverse) * inverse);
  const double unit = b.pick(0x1p23, 0x1p52);
  Value root = b.convert(format.word, operand * inverse * unit);
  // The root rounds to r if (r - 1/2)^2 < operand < (r + 1/2)^2.
  const Value operand_low = (whole.number << is_odd) << int64_t{format.fraction};
  for (int i = 0; i < 3; ++i) {
    const Value rest = operand_low - root * root;
    root = select(root < rest, root + 1, select(rest <= -root, root - 1, root));
  }
  const Value exponent = (whole.exponent - is_odd) >> int64_t{1};
  const Value result = b.convert(format.real, root) * power_of_two(exponent - format.fraction);
  const Value is_usual = is_positive_number(x);
  // Zeros keep their sign; infinity and NaN stay. A subnormal number below zero is one by its bits.
  const Value is_negative = (sign_bit(x) != 0) & (bits(abs(x)) != 0);
  return select(is_usual, result, select(is_negative, b.nan(), x + x));
}

Value div_of(const Value& x, const Value& y) {
  FunctionBuilder& b = *x.builder;
  const Format& format = b.format();
  const int fraction = format.fraction;
  const Normal a = normal(abs(x)), d = normal(abs(y));
  const Value is_less = a.number < d.number;
  const Value shift = select(is_less, b.word(1), b.word(0));
  const Value divisor = as_fraction(d.number);
  const Value dividend = as_fraction(a.number);
  // 1 / divisor within 1/17, then by Newton's steps.
  Value inverse = 24.0 / 17 - divisor * (8.0 / 17);
  for (int i = 0; i < (b.is_fp32() ? 3 : 4); ++i) inverse = inverse * (2 - divisor * inverse);
  const Value near = dividend * inverse * select(is_less, 2, b.real(1));
  Value quotient = b.convert(format.word, near * b.pick(0x1p23, 0x1p52));
  Value rest = ((a.number << shift) << int64_t{fraction}) - quotient * d.number;
  for (int i = 0; i < 3; ++i) {
    const Value step = select(rest < 0, b.word(-1), select(d.number <= rest, b.word(1), b.word(0)));
    quotient = quotient + step;
    rest = rest - step * d.number;
  }
  // Bits of a subnormal quotient that do not count.
  const Value exponent = a.exponent - d.exponent - shift + static_cast<double>(format.bias);
  const Value is_subnormal = exponent <= 0;
  const Value missing = 1 - exponent;
  const Value lost =
      select(is_subnormal, select(missing < fraction + 2, missing, fraction + 2), b.word(0));
  const Value kept = quotient >> lost;
  const Value cut = quotient - (kept << lost);
  const Value middle = (b.word(1) << lost) >> int64_t{1};
  // What is cut off, and the rest of the division, say which side of the middle it is.
  const Value twice = rest << int64_t{1};
  const Value is_even = (kept & int64_t{1}) == 0;
  const Value up_subnormal = (middle < cut) | ((cut == middle) & ((rest != 0) | !is_even));
  const Value up_normal = (d.number < twice) | ((twice == d.number) & !is_even);
  const Value rounded =
      kept + select(select(is_subnormal, up_subnormal, up_normal), b.word(1), b.word(0));
  // The leading one of a normal number adds 1 to its exponent.
  const Value field = select(is_subnormal, b.word(0), exponent - 1);
  const Value finite = from_bits((field << int64_t{fraction}) + rounded);
  const Value is_huge = b.word(2 * format.bias) < exponent;
  const Value usual = select(is_huge, kInfinity, finite);
  const Value zero = b.real(0);
  const Value x_size = abs(x), y_size = abs(y);
  const Value is_zero = (x_size == 0) | is_infinite(y);
  const Value is_without_bound = is_infinite(x) | (y_size == 0);
  const Value size = select(is_zero, zero, select(is_without_bound, kInfinity, usual));
  const Value undefined = is_nan(x) | is_nan(y) | (is_zero & is_without_bound);
  const Value sign = sign_bit(x) ^ sign_bit(y);
  return select(undefined, b.nan(), from_bits(bits(size) | sign));
}

}  // namespace stria::semtree::mathematics
