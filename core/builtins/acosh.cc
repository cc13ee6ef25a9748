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
    .gradient = derivative("DR / sqrt(X * X - 1)"),
    .doc = "Inverse hyperbolic cosine; NaN below 1.",
    .example = "R = acosh(A);",
};

}  // namespace stria::builtins
