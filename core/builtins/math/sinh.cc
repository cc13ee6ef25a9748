// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin sinh;
constinit const Builtin sinh = {
    .name = "sinh",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::sinh(x); }>,
    .ulp = {4, 4},
    .gradient = derivative("DR * cosh(X)"),
    .doc = "Hyperbolic sine.",
    .example = "R = sinh(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
