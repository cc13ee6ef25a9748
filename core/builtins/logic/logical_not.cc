// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar not_true(DataType, const Scalar* x) { return Scalar::of_bool(!x[0].truth()); }

}  // namespace

extern const Builtin logical_not;
constinit const Builtin logical_not = {
    .name = "logical_not",
    .spelling = "!",
    .arity = 1,
    .types = TypeRule::logic,
    .reference = not_true,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "True where the operand is zero (NaN is not).",
    .example = "R = !(A > 0);",
};

}  // namespace stria::builtins
