// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin floor;
constinit const Builtin floor = {
    .name = "floor",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::same,
    .reference =
        reference::unary<[](double x) { return std::floor(x); }, [](int64_t x) { return x; }>,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "Largest whole number that is not above the operand; integers stay.",
    .example = "R = floor(A);",
};

}  // namespace stria::builtins
