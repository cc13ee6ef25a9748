// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar magnitude(DataType type, const Scalar* x) {
  if (is_float(type)) return Scalar::of_float(type, std::fabs(x[0].f));
  const bool negative = is_signed_integer(type) && x[0].i < 0;
  return Scalar::of_int(type, negative ? reference::wrapping_sub(0, x[0].i) : x[0].i);
}

}  // namespace

extern const Builtin abs;
constinit const Builtin abs = {
    .name = "abs",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::same,
    .reference = magnitude,
    .ulp = {0, 0},
    .gradient = at_edges(derivative("cond(X > 0, DR, cond(X < 0, -DR, 0))"), "0 at 0"),
    .doc = "Absolute value. Integers wrap: abs(MIN) is MIN.",
    .example = "R = abs(A);",
    .cost = Cost::cheap,
};

}  // namespace stria::builtins
