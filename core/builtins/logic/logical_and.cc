// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar both(DataType, const Scalar* x) { return Scalar::of_bool(x[0].truth() && x[1].truth()); }

}  // namespace

extern const Builtin logical_and;
constinit const Builtin logical_and = {
    .name = "logical_and",
    .spelling = "&&",
    .arity = 2,
    .types = TypeRule::logic,
    .reference = both,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "True where both operands are non-zero (NaN is). Both are evaluated.",
    .example = "R = (A > 0) && (B > 0);",
    .commutative = true,
    .idempotent = true,
    .zero_wins = true,
    .joins = true,
    .left_unit = Unit::one,
    .right_unit = Unit::one,
};

}  // namespace stria::builtins
