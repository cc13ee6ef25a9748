// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

int64_t remainder_of(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
uint64_t remainder_unsigned(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }

}  // namespace

extern const Builtin mod;
constinit const Builtin mod = {
    .name = "mod",
    .spelling = "%",
    .arity = 2,
    .types = TypeRule::arithmetic,
    .reference = reference::signed_binary<[](double a, double b) { return std::fmod(a, b); },
                                          remainder_of, remainder_unsigned>,
    .ulp = {0, 0},
    .gradient = at_edges(derivative("DR", "-DR * (X - R) / Y"), "as beside the jumps"),
    .doc =
        "Remainder of the quotient truncated toward zero, with the sign of the dividend. For "
        "integers x % 0 is 0 and MIN % -1 is 0; for floats x % 0 is NaN.",
    .example = "R = A % 3;",
    .total = false,
};

}  // namespace stria::builtins
