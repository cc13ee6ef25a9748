// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin acos;
constinit const Builtin acos = {
    .name = "acos",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::acos(x); }>,
    .ulp = {4, 4},
    .gradient = derivative("-DR / sqrt(1 - X * X)"),
    .doc = "Arc cosine in radians; NaN outside -1..1.",
    .example = "R = acos(A);",
};

}  // namespace stria::builtins
