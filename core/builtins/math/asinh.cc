// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin asinh;
constinit const Builtin asinh = {
    .name = "asinh",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::asinh(x); }>,
    .ulp = {4, 4},
    .gradient = derivative("DR / cosh(R)"),
    .doc = "Inverse hyperbolic sine.",
    .example = "R = asinh(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
