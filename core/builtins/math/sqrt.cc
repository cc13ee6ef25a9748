// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin sqrt;
constinit const Builtin sqrt = {
    .name = "sqrt",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::sqrt(x); }>,
    .ulp = {3, 0.5},
    .gradient = at_edges(derivative("cond(R == 0 && DR == 0, 0, DR / (2 * R))"),
                         "infinite at 0 where something flows back"),
    .doc = "Square root; NaN below zero.",
    .example = "R = sqrt(A);",
};

}  // namespace stria::builtins
