// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin bit_xor;
constinit const Builtin bit_xor = {
    .name = "bit_xor",
    .spelling = "^",
    .arity = 2,
    .types = TypeRule::bits,
    .reference = reference::bits<[](int64_t a, int64_t b) { return (a ^ b); }>,
    .ulp = {0, 0},
    .gradient = no_derivative("bits have no derivative"),
    .doc = "Bitwise exclusive or. Integers and bool.",
    .example = "R = A ^ B;",
    .commutative = true,
    .joins = true,
    .left_unit = Unit::zero,
    .right_unit = Unit::zero,
};

}  // namespace stria::builtins
