// SPDX-License-Identifier: Apache-2.0
// How the reference functions of the records are written: one shape for functions of floats, one
// for functions that exist for integers too. Integer results wrap to the operation type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "stria/builtins/builtin.h"

namespace stria::reference {

// f(double) -> double, rounded once to the operation type.
template <auto f>
Scalar float_unary(DataType type, const Scalar* x) {
  return Scalar::of_float(type, f(x[0].f));
}

// `f` for floats, `i` on 64-bit integers (signed types sign-extended, unsigned ones zero-extended).
template <auto f, auto i>
Scalar unary(DataType type, const Scalar* x) {
  if (is_float(type)) return Scalar::of_float(type, f(x[0].f));
  return Scalar::of_int(type, i(x[0].i));
}
template <auto f, auto i>
Scalar binary(DataType type, const Scalar* x) {
  if (is_float(type)) return Scalar::of_float(type, f(x[0].f, x[1].f));
  return Scalar::of_int(type, i(x[0].i, x[1].i));
}
// As `binary`, with `s` for signed integers and `u` for unsigned ones and bool.
template <auto f, auto s, auto u>
Scalar signed_binary(DataType type, const Scalar* x) {
  if (is_float(type)) return Scalar::of_float(type, f(x[0].f, x[1].f));
  if (is_signed_integer(type)) return Scalar::of_int(type, s(x[0].i, x[1].i));
  const uint64_t result = u(static_cast<uint64_t>(x[0].i), static_cast<uint64_t>(x[1].i));
  return Scalar::of_int(type, static_cast<int64_t>(result));
}
// p(a, b) on double, int64_t or uint64_t.
template <auto p>
Scalar compare(DataType type, const Scalar* x) {
  if (is_float(type)) return Scalar::of_bool(p(x[0].f, x[1].f));
  if (is_signed_integer(type)) return Scalar::of_bool(p(x[0].i, x[1].i));
  return Scalar::of_bool(p(static_cast<uint64_t>(x[0].i), static_cast<uint64_t>(x[1].i)));
}
// i on the 64 bits; bool has one.
template <auto i>
Scalar bits(DataType type, const Scalar* x) {
  const int64_t result = i(x[0].i, x[1].i);
  return Scalar::of_int(type, type == DataType::boolean ? result & 1 : result);
}

// The conversion that every as_… is.
inline Scalar cast(DataType type, const Scalar* x) { return convert(x[0], type); }

inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Shift counts are taken modulo the width.
inline int shift_count(DataType type, int64_t count) {
  return static_cast<int>(count & (bit_width(type) - 1));
}

}  // namespace stria::reference
