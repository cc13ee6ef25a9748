// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin mul;
constinit const Builtin mul = {
    .name = "mul",
    .spelling = "*",
    .arity = 2,
    .types = TypeRule::arithmetic,
    .reference =
        reference::binary<[](double a, double b) { return a * b; }, reference::wrapping_mul>,
    .ulp = {0.5, 0.5},
    .gradient = derivative("DR * Y", "DR * X"),
    .doc = "Product. Integers wrap.",
    .example = "R = A * B;",
    .cost = Cost::cheap,
    .circuit = Circuit::multiplier,
    .commutative = true,
    .zero_wins = true,
    .joins = true,
    .left_unit = Unit::one,
    .right_unit = Unit::one,
};

}  // namespace stria::builtins
