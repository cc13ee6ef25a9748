// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin exp;
constinit const Builtin exp = {
    .name = "exp",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::exp(x); }>,
    .ulp = {3, 3},
    .gradient = derivative("DR * R"),
    .doc = "Exponential function.",
    .example = "R = exp(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
