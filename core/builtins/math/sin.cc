// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin sin;
constinit const Builtin sin = {
    .name = "sin",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::sin(x); }>,
    .ulp = {4, 4},
    .gradient = derivative("DR * cos(X)"),
    .doc = "Sine of an angle in radians.",
    .example = "R = sin(A);",
    .lipschitz = 1,
    .cost = Cost::slow,
};

}  // namespace stria::builtins
