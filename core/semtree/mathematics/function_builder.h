// SPDX-License-Identifier: Apache-2.0
// Writes functions of mathematics as C++ expressions: `a * b + 1` on Values adds one statement to
// the function for each operation, so that every value is computed once. Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "stria/semtree/mathematics/mathematics.h"

namespace stria::semtree::mathematics {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

class FunctionBuilder;

// A scalar of the function that is being built: a constant or a variable. Operands of one operation
// have one type; a number of C++ beside a Value becomes a constant of its type.
struct Value {
  FunctionBuilder* builder = nullptr;
  ExprRef expr;
};

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator%(const Value& a, const Value& b);
Value operator-(const Value& a);
Value operator&(const Value& a, const Value& b);
Value operator|(const Value& a, const Value& b);
Value operator^(const Value& a, const Value& b);
Value operator<<(const Value& a, const Value& count);
Value operator>>(const Value& a, const Value& count);
Value operator==(const Value& a, const Value& b);
Value operator!=(const Value& a, const Value& b);
Value operator<(const Value& a, const Value& b);
Value operator<=(const Value& a, const Value& b);
Value operator!(const Value& a);

Value operator+(const Value& a, double b);
Value operator+(double a, const Value& b);
Value operator-(const Value& a, double b);
Value operator-(double a, const Value& b);
Value operator*(const Value& a, double b);
Value operator/(double a, const Value& b);
Value operator&(const Value& a, int64_t b);
Value operator|(const Value& a, int64_t b);
Value operator<<(const Value& a, int64_t count);
Value operator>>(const Value& a, int64_t count);
Value operator==(const Value& a, double b);
Value operator!=(const Value& a, double b);
Value operator<(const Value& a, double b);
Value operator<(double a, const Value& b);
Value operator<=(const Value& a, double b);
Value operator<=(double a, const Value& b);

Value fma(const Value& a, const Value& b, const Value& c);
Value fma(const Value& a, const Value& b, double c);
Value select(const Value& condition, const Value& a, const Value& b);
Value select(const Value& condition, const Value& a, double b);
Value select(const Value& condition, double a, const Value& b);
Value abs(const Value& a);
Value floor(const Value& a);
Value sqrt(const Value& a);

// What is known of the float type that a function computes in.
struct Format {
  DataType real, word, unsigned_word;  // the float type, and the integers as wide
  int bits;                            // of all of them
  int fraction;                        // bits behind the leading one
  int bias;                            // of the exponent's field
  int low_bits;                        // the lower half of a significand: see upper()
};

class FunctionBuilder {
 public:
  FunctionBuilder(std::string name, DataType type, int params);

  const Format& format() const { return format_; }
  bool is_fp32() const { return format_.real == DataType::fp32; }
  Value param(int number);
  // The numbers for the function's type: coefficients, thresholds.
  double pick(double fp32, double fp64) const { return is_fp32() ? fp32 : fp64; }
  std::span<const double> pick(std::span<const double> fp32, std::span<const double> fp64) const {
    return is_fp32() ? fp32 : fp64;
  }

  Value real(double value);
  Value word(int64_t value);
  Value unsigned_word(uint64_t value);
  Value infinity();
  Value nan();
  // A constant of the type of `like`.
  Value constant_like(const Value& like, double value);
  // Names an expression.
  Value let(ExprRef expr);
  Value convert(DataType type, const Value& a);

  // The values that `make` computes if `condition` holds, else `otherwise`.
  std::vector<Value> choose(const Value& condition, const std::function<std::vector<Value>()>& make,
                            const std::vector<Value>& otherwise);
  Value choose(const Value& condition, const std::function<Value()>& make, const Value& otherwise);

  MathFunction finish(const Value& result);

 private:
  int variable_of(Type type);

  Format format_;
  MathFunction function_;
  std::vector<Body> open_;  // bodies that are being written, innermost last
};

// The bits of a real as a signed integer, and back.
Value bits(const Value& real);
Value from_bits(const Value& word);
// Integers between their two signs.
Value as_unsigned(const Value& word);
Value as_signed(const Value& word);
// c[0] + c[1] x + …, by Horner's rule.
Value polynomial(const Value& x, std::span<const double> coefficients);
// x + x^3 (c[0] + c[1] x^2 + …)
Value odd_polynomial(const Value& x, std::span<const double> coefficients);
// 2^exponent, for exponents of normal numbers.
Value power_of_two(const Value& exponent);
// The sign bit of `sign` with the size of `size`, which is not negative.
Value with_sign_of(const Value& size, const Value& sign);
// By the bits: a compiler that takes every float for a number does not fold them.
Value is_nan(const Value& real);
Value is_infinite(const Value& real);
Value is_finite(const Value& real);
Value is_positive_number(const Value& real);  // above 0, and finite
// The bits of a positive number, and for a subnormal one those of its digits as a whole number: of
// the size times 2^(bias + fraction - 1). No float operation sees the subnormal number.
struct NormalBits {
  Value bits, was_subnormal;
};
NormalBits normal_bits(const Value& size);
// The sign bit, alone.
Value sign_bit(const Value& real);

}  // namespace stria::semtree::mathematics
