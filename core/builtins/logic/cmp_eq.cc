// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin cmp_eq;
constinit const Builtin cmp_eq = {
    .name = "cmp_eq",
    .spelling = "==",
    .arity = 2,
    .types = TypeRule::comparison,
    .reference = reference::compare<[](auto a, auto b) { return (a == b); }>,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "True where the operands are equal; NaN equals nothing.",
    .example = "R = A == B;",
    .cost = Cost::cheap,
    .commutative = true,
};

}  // namespace stria::builtins
