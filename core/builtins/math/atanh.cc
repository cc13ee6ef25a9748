// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin atanh;
constinit const Builtin atanh = {
    .name = "atanh",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::atanh(x); }>,
    .ulp = {5, 5},
    .gradient = derivative("DR / ((1 - X) * (1 + X))"),
    .doc = "Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.",
    .example = "R = atanh(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
