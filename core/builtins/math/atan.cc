// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin atan;
constinit const Builtin atan = {
    .name = "atan",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::atan(x); }>,
    .ulp = {5, 5},
    .gradient = derivative("DR / (1 + X * X)"),
    .doc = "Arc tangent in radians.",
    .example = "R = atan(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
