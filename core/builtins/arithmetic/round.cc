// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin round;
constinit const Builtin round = {
    .name = "round",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::same,
    .reference =
        reference::unary<[](double x) { return std::nearbyint(x); }, [](int64_t x) { return x; }>,
    .ulp = {0, 0},
    .gradient = no_derivative("piecewise constant: zero almost everywhere"),
    .doc = "Nearest whole number, halves to the even one (2.5 gives 2); integers stay.",
    .example = "R = round(A);",
};

}  // namespace stria::builtins
