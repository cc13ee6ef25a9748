// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin bit_or;
constinit const Builtin bit_or = {
    .name = "bit_or",
    .spelling = "|",
    .arity = 2,
    .types = TypeRule::bits,
    .reference = reference::bits<[](int64_t a, int64_t b) { return (a | b); }>,
    .ulp = {0, 0},
    .gradient = no_derivative("bits have no derivative"),
    .doc = "Bitwise or. Integers and bool.",
    .example = "R = A | B;",
    .commutative = true,
    .idempotent = true,
    .joins = true,
    .left_unit = Unit::zero,
    .right_unit = Unit::zero,
};

}  // namespace stria::builtins
