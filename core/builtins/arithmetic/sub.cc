// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin sub;
constinit const Builtin sub = {
    .name = "sub",
    .spelling = "-",
    .arity = 2,
    .types = TypeRule::arithmetic,
    .reference =
        reference::binary<[](double a, double b) { return a - b; }, reference::wrapping_sub>,
    .ulp = {0.5, 0.5},
    .gradient = derivative("DR", "-DR"),
    .doc = "Difference. Integers wrap.",
    .example = "R = A - B;",
    .cost = Cost::cheap,
    .circuit = Circuit::adder,
    .right_unit = Unit::zero,
};

}  // namespace stria::builtins
