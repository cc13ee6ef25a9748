// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin acosh;
constinit const Builtin acosh = {
    .name = "acosh",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::acosh(x); }>,
    .ulp = {4, 4},
    .gradient = at_edges(derivative("cond(X == 1 && DR == 0, 0, DR / (sqrt(X - 1) * sqrt(X + 1)))"),
                         "infinite at 1 where something flows back"),
    .doc = "Inverse hyperbolic cosine; NaN below 1.",
    .example = "R = acosh(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
