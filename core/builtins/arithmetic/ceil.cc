// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin ceil;
constinit const Builtin ceil = {
    .name = "ceil",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::same,
    .reference =
        reference::unary<[](double x) { return std::ceil(x); }, [](int64_t x) { return x; }>,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "Smallest whole number that is not below the operand; integers stay.",
    .example = "R = ceil(A);",
};

}  // namespace stria::builtins
