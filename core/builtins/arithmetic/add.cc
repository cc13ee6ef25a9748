// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin add;
constinit const Builtin add = {
    .name = "add",
    .spelling = "+",
    .arity = 2,
    .types = TypeRule::arithmetic,
    .reference =
        reference::binary<[](double a, double b) { return a + b; }, reference::wrapping_add>,
    .ulp = {0.5, 0.5},
    .gradient = derivative("DR", "DR"),
    .doc = "Sum. Integers wrap.",
    .example = "R = A + B;",
    .cost = Cost::cheap,
    .circuit = Circuit::adder,
    .commutative = true,
    .joins = true,
    .left_unit = Unit::negative_zero,
    .right_unit = Unit::negative_zero,
};

}  // namespace stria::builtins
