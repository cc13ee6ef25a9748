// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin cmp_ne;
constinit const Builtin cmp_ne = {
    .name = "cmp_ne",
    .spelling = "!=",
    .arity = 2,
    .types = TypeRule::comparison,
    .reference = reference::compare<[](auto a, auto b) { return (a != b); }>,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "True where the operands differ; NaN differs from everything.",
    .example = "R = A != B;",
    .cost = Cost::cheap,
    .commutative = true,
};

}  // namespace stria::builtins
