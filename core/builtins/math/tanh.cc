// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin tanh;
constinit const Builtin tanh = {
    .name = "tanh",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::tanh(x); }>,
    .ulp = {5, 5},
    .gradient = derivative("DR * (1 - R * R)"),
    .doc = "Hyperbolic tangent.",
    .example = "R = tanh(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
