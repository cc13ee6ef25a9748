// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin cos;
constinit const Builtin cos = {
    .name = "cos",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::cos(x); }>,
    .ulp = {4, 4},
    .gradient = derivative("-DR * sin(X)"),
    .doc = "Cosine of an angle in radians.",
    .example = "R = cos(A);",
    .lipschitz = 1,
    .cost = Cost::slow,
};

}  // namespace stria::builtins
