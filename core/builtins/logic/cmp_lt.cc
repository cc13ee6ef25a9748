// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin cmp_lt;
constinit const Builtin cmp_lt = {
    .name = "cmp_lt",
    .spelling = "<",
    .arity = 2,
    .types = TypeRule::comparison,
    .reference = reference::compare<[](auto a, auto b) { return (a < b); }>,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "True where the first operand is smaller; false beside NaN.",
    .example = "R = A < B;",
    .cost = Cost::cheap,
};

}  // namespace stria::builtins
