// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar rectify(DataType type, const Scalar* x) {
  if (is_float(type)) return x[0].f > 0 || std::isnan(x[0].f) ? x[0] : Scalar::of_float(type, 0);
  return is_signed_integer(type) && x[0].i < 0 ? Scalar::of_int(type, 0) : x[0];
}

}  // namespace

extern const Builtin relu;
constinit const Builtin relu = {
    .name = "relu",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::same,
    .reference = rectify,
    .ulp = {0, 0},
    .gradient = at_edges(derivative("cond(X > 0, DR, 0)"), "0 at 0"),
    .doc = "The operand where it is above zero, else 0; NaN stays NaN.",
    .example = "R = relu(A);",
    .cost = Cost::cheap,
};

}  // namespace stria::builtins
