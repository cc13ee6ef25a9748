// SPDX-License-Identifier: Apache-2.0
// Every function of Tile by its name. Made from the records of core/builtins:
// `tools/golden_update.sh docs` writes this file. docs/builtins.md says more of each.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/edsl/dim.h"
#include "stria/edsl/tensor.h"

namespace stria::edsl {

// Sum. Integers wrap.
//   R = A + B;
inline Tensor add(const Tensor& x, const Tensor& y) { return call("add", {x, y}); }
inline Dim add(const Dim& x, const Dim& y) { return Dim::call("add", {x, y}); }

// Difference. Integers wrap.
//   R = A - B;
inline Tensor sub(const Tensor& x, const Tensor& y) { return call("sub", {x, y}); }
inline Dim sub(const Dim& x, const Dim& y) { return Dim::call("sub", {x, y}); }

// Product. Integers wrap.
//   R = A * B;
inline Tensor mul(const Tensor& x, const Tensor& y) { return call("mul", {x, y}); }
inline Dim mul(const Dim& x, const Dim& y) { return Dim::call("mul", {x, y}); }

// Quotient. Integers truncate toward zero; x / 0 is 0 and MIN / -1 is MIN. Floats follow IEEE 754.
//   R = A / B;
inline Tensor div(const Tensor& x, const Tensor& y) { return call("div", {x, y}); }
inline Dim div(const Dim& x, const Dim& y) { return Dim::call("div", {x, y}); }

// Remainder of the quotient truncated toward zero, with the sign of the dividend. For integers x %
// 0 is 0 and MIN % -1 is 0; for floats x % 0 is NaN.
//   R = A % 3;
inline Tensor mod(const Tensor& x, const Tensor& y) { return call("mod", {x, y}); }
inline Dim mod(const Dim& x, const Dim& y) { return Dim::call("mod", {x, y}); }

// Negation. Integers wrap: -MIN is MIN, and unsigned values count down from zero.
//   R = -A;
inline Tensor neg(const Tensor& x) { return call("neg", {x}); }
inline Dim neg(const Dim& x) { return Dim::call("neg", {x}); }

// True where the operands are equal; NaN equals nothing.
//   R = A == B;
inline Tensor cmp_eq(const Tensor& x, const Tensor& y) { return call("cmp_eq", {x, y}); }
inline Dim cmp_eq(const Dim& x, const Dim& y) { return Dim::call("cmp_eq", {x, y}); }

// True where the operands differ; NaN differs from everything.
//   R = A != B;
inline Tensor cmp_ne(const Tensor& x, const Tensor& y) { return call("cmp_ne", {x, y}); }
inline Dim cmp_ne(const Dim& x, const Dim& y) { return Dim::call("cmp_ne", {x, y}); }

// True where the first operand is smaller; false beside NaN.
//   R = A < B;
inline Tensor cmp_lt(const Tensor& x, const Tensor& y) { return call("cmp_lt", {x, y}); }
inline Dim cmp_lt(const Dim& x, const Dim& y) { return Dim::call("cmp_lt", {x, y}); }

// True where the first operand is larger; false beside NaN.
//   R = A > B;
inline Tensor cmp_gt(const Tensor& x, const Tensor& y) { return call("cmp_gt", {x, y}); }
inline Dim cmp_gt(const Dim& x, const Dim& y) { return Dim::call("cmp_gt", {x, y}); }

// True where the first operand is smaller or equal; false beside NaN.
//   R = A <= B;
inline Tensor cmp_le(const Tensor& x, const Tensor& y) { return call("cmp_le", {x, y}); }
inline Dim cmp_le(const Dim& x, const Dim& y) { return Dim::call("cmp_le", {x, y}); }

// True where the first operand is larger or equal; false beside NaN.
//   R = A >= B;
inline Tensor cmp_ge(const Tensor& x, const Tensor& y) { return call("cmp_ge", {x, y}); }
inline Dim cmp_ge(const Dim& x, const Dim& y) { return Dim::call("cmp_ge", {x, y}); }

// Bitwise and. Integers and bool.
//   R = A & B;
inline Tensor bit_and(const Tensor& x, const Tensor& y) { return call("bit_and", {x, y}); }
inline Dim bit_and(const Dim& x, const Dim& y) { return Dim::call("bit_and", {x, y}); }

// Bitwise or. Integers and bool.
//   R = A | B;
inline Tensor bit_or(const Tensor& x, const Tensor& y) { return call("bit_or", {x, y}); }
inline Dim bit_or(const Dim& x, const Dim& y) { return Dim::call("bit_or", {x, y}); }

// Bitwise exclusive or. Integers and bool.
//   R = A ^ B;
inline Tensor bit_xor(const Tensor& x, const Tensor& y) { return call("bit_xor", {x, y}); }
inline Dim bit_xor(const Dim& x, const Dim& y) { return Dim::call("bit_xor", {x, y}); }

// Bitwise complement; on bool the logical one.
//   R = ~A;
inline Tensor bit_not(const Tensor& x) { return call("bit_not", {x}); }
inline Dim bit_not(const Dim& x) { return Dim::call("bit_not", {x}); }

// Shift to the left. The count is taken modulo the width of the type.
//   R = A << 3;
inline Tensor bit_left(const Tensor& x, const Tensor& y) { return call("bit_left", {x, y}); }
inline Dim bit_left(const Dim& x, const Dim& y) { return Dim::call("bit_left", {x, y}); }

// Shift to the right: signed integers keep their sign, unsigned ones fill with zeros. The count is
// taken modulo the width of the type.
//   R = A >> 3;
inline Tensor bit_right(const Tensor& x, const Tensor& y) { return call("bit_right", {x, y}); }
inline Dim bit_right(const Dim& x, const Dim& y) { return Dim::call("bit_right", {x, y}); }

// True where both operands are non-zero (NaN is). Both are evaluated.
//   R = (A > 0) && (B > 0);
inline Tensor logical_and(const Tensor& x, const Tensor& y) { return call("logical_and", {x, y}); }
inline Dim logical_and(const Dim& x, const Dim& y) { return Dim::call("logical_and", {x, y}); }

// True where an operand is non-zero (NaN is). Both are evaluated.
//   R = (A > 0) || (B > 0);
inline Tensor logical_or(const Tensor& x, const Tensor& y) { return call("logical_or", {x, y}); }
inline Dim logical_or(const Dim& x, const Dim& y) { return Dim::call("logical_or", {x, y}); }

// True where the operand is zero (NaN is not).
//   R = !(A > 0);
inline Tensor logical_not(const Tensor& x) { return call("logical_not", {x}); }
inline Dim logical_not(const Dim& x) { return Dim::call("logical_not", {x}); }

// The second operand where the first is non-zero (NaN is), else the third. The type ignores the
// first.
//   R = cond(A > 0, A, 0);
inline Tensor cond(const Tensor& x, const Tensor& y, const Tensor& z) {
  return call("cond", {x, y, z});
}
inline Dim cond(const Dim& x, const Dim& y, const Dim& z) { return Dim::call("cond", {x, y, z}); }

// The operand itself. In Stripe ident.T is the cast to T: integers wrap, float to integer truncates
// and saturates with NaN giving 0, anything to bool is != 0.
//   R = ident(A);
inline Tensor ident(const Tensor& x) { return call("ident", {x}); }
inline Dim ident(const Dim& x) { return Dim::call("ident", {x}); }

// The larger operand; NaN if one is NaN. Which zero max(-0.0, 0.0) gives is not specified.
//   R = max(A, 0);
inline Tensor max(const Tensor& x, const Tensor& y) { return call("max", {x, y}); }
inline Dim max(const Dim& x, const Dim& y) { return Dim::call("max", {x, y}); }

// The smaller operand; NaN if one is NaN. Which zero min(-0.0, 0.0) gives is not specified.
//   R = min(A, 0);
inline Tensor min(const Tensor& x, const Tensor& y) { return call("min", {x, y}); }
inline Dim min(const Dim& x, const Dim& y) { return Dim::call("min", {x, y}); }

// Absolute value. Integers wrap: abs(MIN) is MIN.
//   R = abs(A);
inline Tensor abs(const Tensor& x) { return call("abs", {x}); }
inline Dim abs(const Dim& x) { return Dim::call("abs", {x}); }

// Square root; NaN below zero.
//   R = sqrt(A);
inline Tensor sqrt(const Tensor& x) { return call("sqrt", {x}); }

// Exponential function.
//   R = exp(A);
inline Tensor exp(const Tensor& x) { return call("exp", {x}); }

// Natural logarithm; -inf at zero, NaN below.
//   R = log(A);
inline Tensor log(const Tensor& x) { return call("log", {x}); }

// First operand to the power of the second. Integers multiply with wrapping; a negative exponent
// gives 1 / x^n truncated: 1 for x = 1, 1 or -1 for x = -1, else 0.
//   R = pow(A, 2);
inline Tensor pow(const Tensor& x, const Tensor& y) { return call("pow", {x, y}); }
inline Dim pow(const Dim& x, const Dim& y) { return Dim::call("pow", {x, y}); }

// Sine of an angle in radians.
//   R = sin(A);
inline Tensor sin(const Tensor& x) { return call("sin", {x}); }

// Cosine of an angle in radians.
//   R = cos(A);
inline Tensor cos(const Tensor& x) { return call("cos", {x}); }

// Tangent of an angle in radians.
//   R = tan(A);
inline Tensor tan(const Tensor& x) { return call("tan", {x}); }

// Arc sine in radians; NaN outside -1..1.
//   R = asin(A);
inline Tensor asin(const Tensor& x) { return call("asin", {x}); }

// Arc cosine in radians; NaN outside -1..1.
//   R = acos(A);
inline Tensor acos(const Tensor& x) { return call("acos", {x}); }

// Arc tangent in radians.
//   R = atan(A);
inline Tensor atan(const Tensor& x) { return call("atan", {x}); }

// Hyperbolic sine.
//   R = sinh(A);
inline Tensor sinh(const Tensor& x) { return call("sinh", {x}); }

// Hyperbolic cosine.
//   R = cosh(A);
inline Tensor cosh(const Tensor& x) { return call("cosh", {x}); }

// Hyperbolic tangent.
//   R = tanh(A);
inline Tensor tanh(const Tensor& x) { return call("tanh", {x}); }

// Inverse hyperbolic sine.
//   R = asinh(A);
inline Tensor asinh(const Tensor& x) { return call("asinh", {x}); }

// Inverse hyperbolic cosine; NaN below 1.
//   R = acosh(A);
inline Tensor acosh(const Tensor& x) { return call("acosh", {x}); }

// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
//   R = atanh(A);
inline Tensor atanh(const Tensor& x) { return call("atanh", {x}); }

// Largest whole number that is not above the operand; integers stay.
//   R = floor(A);
inline Tensor floor(const Tensor& x) { return call("floor", {x}); }
inline Dim floor(const Dim& x) { return Dim::call("floor", {x}); }

// Smallest whole number that is not below the operand; integers stay.
//   R = ceil(A);
inline Tensor ceil(const Tensor& x) { return call("ceil", {x}); }
inline Dim ceil(const Dim& x) { return Dim::call("ceil", {x}); }

// Nearest whole number, halves to the even one (2.5 gives 2); integers stay.
//   R = round(A);
inline Tensor round(const Tensor& x) { return call("round", {x}); }
inline Dim round(const Dim& x) { return Dim::call("round", {x}); }

// Logistic function 1 / (1 + exp(-x)).
//   R = sigmoid(A);
inline Tensor sigmoid(const Tensor& x) { return call("sigmoid", {x}); }

// The operand where it is above zero, else 0; NaN stays NaN.
//   R = relu(A);
inline Tensor relu(const Tensor& x) { return call("relu", {x}); }
inline Dim relu(const Dim& x) { return Dim::call("relu", {x}); }

// Reciprocal 1 / x.
//   R = recip(A);
inline Tensor recip(const Tensor& x) { return call("recip", {x}); }

// Conversion to a float of 16, 32 or 64 bits, rounded to nearest, ties to even.
//   R = as_float(A, 32);
inline Tensor as_float(const Tensor& x, int64_t bits) { return call("as_float", {x, bits}); }

// Conversion to bf16, the float of 16 bits with the exponent of fp32, rounded to nearest, ties to
// even.
//   R = as_bfloat(A, 16);
inline Tensor as_bfloat(const Tensor& x, int64_t bits) { return call("as_bfloat", {x, bits}); }

// Conversion to fp8_e4m3, a packed float of 8 bits with 3 bits of fraction, rounded to nearest,
// ties to even. Beyond 448, which is the largest number, NaN.
//   R = as_fp8_e4m3(A);
inline Tensor as_fp8_e4m3(const Tensor& x) { return call("as_fp8_e4m3", {x}); }

// Conversion to fp8_e5m2, a packed float of 8 bits with 2 bits of fraction, rounded to nearest,
// ties to even. Beyond 57344, which is the largest number, infinity.
//   R = as_fp8_e5m2(A);
inline Tensor as_fp8_e5m2(const Tensor& x) { return call("as_fp8_e5m2", {x}); }

// Conversion to fp4, a packed float of 4 bits with 1 bit of fraction, rounded to nearest, ties to
// even. Beyond 6, which is the largest number, 6; of NaN 0.
//   R = as_fp4(A);
inline Tensor as_fp4(const Tensor& x) { return call("as_fp4", {x}); }

// Conversion to a signed integer of 2, 4, 8, 16, 32 or 64 bits: integers wrap; floats truncate and
// saturate, NaN gives 0.
//   R = as_int(A, 8);
inline Tensor as_int(const Tensor& x, int64_t bits) { return call("as_int", {x, bits}); }

// Conversion to an unsigned integer of 2, 4, 8, 16, 32 or 64 bits: integers wrap; floats truncate
// and saturate, NaN gives 0.
//   R = as_uint(A, 8);
inline Tensor as_uint(const Tensor& x, int64_t bits) { return call("as_uint", {x, bits}); }

// Conversion to bool: true where the operand is non-zero (NaN is).
//   R = as_bool(A);
inline Tensor as_bool(const Tensor& x) { return call("as_bool", {x}); }

// The rows of D that the integers of I name, each clamped to 0 .. rows-1. The sizes are those of I,
// then those of D without the first.
//   R = gather(D, I);
inline Tensor gather(const Tensor& d, const Tensor& i) { return call("gather", {d, i}); }

// As gather, but zeros where an integer of I is no row of D.
//   R = gather_or_zero(D, I);
inline Tensor gather_or_zero(const Tensor& d, const Tensor& i) {
  return call("gather_or_zero", {d, i});
}

// Row r is the sum of the rows of E whose integer in I is r, 0 if there is none; rows of other
// integers are left out. There are as many rows as V has.
//   R = scatter(E, I, V);
inline Tensor scatter(const Tensor& e, const Tensor& i, const Tensor& v) {
  return call("scatter", {e, i, v});
}

// The coordinate of every element along one dimension, of type i32, with the sizes of T.
//   R = index(T, 0);
inline Tensor index(const Tensor& t, const Dim& axis) { return call("index", {t, axis}); }

// The sizes of T as a vector of i32.
//   R = shape(T);
inline Tensor shape(const Tensor& t) { return call("shape", {t}); }

// The size of T along one dimension: a number as a dimension is one, where no parameter gives it a
// name.
//   N = size(T, 1);
inline Dim size(const Tensor& t, const Dim& axis) { return Dim::of_tensors("size", {t, axis}); }

// The elements of T in row-major order under other sizes, as many as there were.
//   R = reshape(T, 2, 3);
inline Tensor reshape(const Tensor& t, const std::vector<Dim>& sizes) {
  std::vector<Tensor> arguments = {t};
  arguments.insert(arguments.end(), sizes.begin(), sizes.end());
  return call("reshape", arguments);
}

// reshape(T, …) with the sizes of V, whose elements do not matter.
//   R = reshape_like(T, V);
inline Tensor reshape_like(const Tensor& t, const Tensor& v) {
  return call("reshape_like", {t, v});
}

// E summed over the dimensions that V, whose elements do not matter, was broadcast along: the sizes
// are those of V.
//   R = sum_like(E, V);
inline Tensor sum_like(const Tensor& e, const Tensor& v) { return call("sum_like", {e, v}); }

// The size of a dimension that two tensors give which are broadcast: the other one where one is 1.
// An error if they differ otherwise.
//   S = broadcast(N, M);
inline Dim broadcast(const Dim& n, const Dim& m) { return Dim::call("broadcast", {n, m}); }

// The number that both are; an error if they differ.
//   S = match(N, M);
inline Dim match(const Dim& n, const Dim& m) { return Dim::call("match", {n, m}); }

// The nearest number, ties to even, of a float format with so many binary places behind the leading
// digit and with exponents from lowest to highest; smaller numbers have the places of the lowest
// exponent, larger ones become infinity. In fp32, of fp64 in fp64.
//   R = round_binary(X, 3, -6, 8);
inline Tensor round_binary(const Tensor& x, const Dim& places, const Dim& lowest,
                           const Dim& highest) {
  return call("round_binary", {x, places, lowest, highest});
}

// Random numbers for a tensor of the given sizes, from the state S of type u32[3, 2048]. prng_value
// and prng_state take out what it made.
//   T = prng_step(S, 100, 10);
inline Tensor prng_step(const Tensor& s, const std::vector<Dim>& sizes) {
  std::vector<Tensor> arguments = {s};
  arguments.insert(arguments.end(), sizes.begin(), sizes.end());
  return call("prng_step", arguments);
}

// The state after the step T = prng_step(…), for the next one.
//   R = prng_state(T);
inline Tensor prng_state(const Tensor& t) { return call("prng_state", {t}); }

// The random numbers of the step T = prng_step(…): fp32, multiples of 2^-24 in [0, 1).
//   R = prng_value(T);
inline Tensor prng_value(const Tensor& t) { return call("prng_value", {t}); }

// X * Y + Z; the product and the sum may contract to one operation.
//   R = mad(A, B, C);
inline Tensor mad(const Tensor& x, const Tensor& y, const Tensor& z) {
  return call("mad", {x, y, z});
}

// X itself; the gradient that flows back to X is turned round and scaled by the number Y, as
// training against an adversary needs it.
//   R = reverse_grad(A, 0.5);
inline Tensor reverse_grad(const Tensor& x, const Tensor& y) {
  return call("reverse_grad", {x, y});
}

// Softmax over the second dimension of X[Rows, Cols], shifted by the largest element of each row.
//   R = builtin_softmax(A, N, M);
inline Tensor builtin_softmax(const Tensor& x, const Tensor& rows, const Tensor& cols) {
  return call("builtin_softmax", {x, rows, cols});
}

// Logarithm of the softmax over the second dimension of X[Rows, Cols], shifted like it.
//   R = builtin_logsoftmax(A, N, M);
inline Tensor builtin_logsoftmax(const Tensor& x, const Tensor& rows, const Tensor& cols) {
  return call("builtin_logsoftmax", {x, rows, cols});
}

// Cross-entropy of the probabilities P and the targets T, element by element, times Scale.
//   R = builtin_binary_crossentropy(A, B, 1.0);
inline Tensor builtin_binary_crossentropy(const Tensor& p, const Tensor& t, const Tensor& scale) {
  return call("builtin_binary_crossentropy", {p, t, scale});
}

}  // namespace stria::edsl
