// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin recip;
constinit const Builtin recip = {
    .name = "recip",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return 1 / x; }>,
    .ulp = {2.5, 0.5},
    .gradient = derivative("-DR * R * R"),
    .doc = "Reciprocal 1 / x.",
    .example = "R = recip(A);",
};

}  // namespace stria::builtins
