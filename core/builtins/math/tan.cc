// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin tan;
constinit const Builtin tan = {
    .name = "tan",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::tan(x); }>,
    .ulp = {5, 5},
    .gradient = derivative("DR * (1 + R * R)"),
    .doc = "Tangent of an angle in radians.",
    .example = "R = tan(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
