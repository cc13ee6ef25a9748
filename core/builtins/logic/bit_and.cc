// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin bit_and;
constinit const Builtin bit_and = {
    .name = "bit_and",
    .spelling = "&",
    .arity = 2,
    .types = TypeRule::bits,
    .reference = reference::bits<[](int64_t a, int64_t b) { return (a & b); }>,
    .ulp = {0, 0},
    .gradient = no_derivative("bits have no derivative"),
    .doc = "Bitwise and. Integers and bool.",
    .example = "R = A & B;",
    .commutative = true,
    .idempotent = true,
    .zero_wins = true,
    .joins = true,
    .left_unit = Unit::all_ones,
    .right_unit = Unit::all_ones,
};

}  // namespace stria::builtins
