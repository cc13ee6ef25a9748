// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar either(DataType, const Scalar* x) { return Scalar::of_bool(x[0].truth() || x[1].truth()); }

}  // namespace

extern const Builtin logical_or;
constinit const Builtin logical_or = {
    .name = "logical_or",
    .spelling = "||",
    .arity = 2,
    .types = TypeRule::logic,
    .reference = either,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "True where an operand is non-zero (NaN is). Both are evaluated.",
    .example = "R = (A > 0) || (B > 0);",
    .commutative = true,
    .idempotent = true,
    .joins = true,
    .left_unit = Unit::zero,
    .right_unit = Unit::zero,
};

}  // namespace stria::builtins
