// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin cosh;
constinit const Builtin cosh = {
    .name = "cosh",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::cosh(x); }>,
    .ulp = {4, 4},
    .gradient = derivative("DR * sinh(X)"),
    .doc = "Hyperbolic cosine.",
    .example = "R = cosh(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
