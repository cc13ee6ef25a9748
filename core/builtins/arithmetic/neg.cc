// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin neg;
constinit const Builtin neg = {
    .name = "neg",
    .spelling = "-",
    .arity = 1,
    .types = TypeRule::arithmetic,
    .reference = reference::unary<[](double x) { return -x; },
                                  [](int64_t x) { return reference::wrapping_sub(0, x); }>,
    .ulp = {0, 0},
    .gradient = derivative("-DR"),
    .doc = "Negation. Integers wrap: -MIN is MIN, and unsigned values count down from zero.",
    .example = "R = -A;",
    .cost = Cost::cheap,
};

}  // namespace stria::builtins
