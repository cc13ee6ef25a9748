// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin asin;
constinit const Builtin asin = {
    .name = "asin",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::asin(x); }>,
    .ulp = {4, 4},
    .gradient =
        at_edges(derivative("cond(abs(X) == 1 && DR == 0, 0, DR / sqrt((1 - X) * (1 + X)))"),
                 "infinite at -1 and 1 where something flows back"),
    .doc = "Arc sine in radians; NaN outside -1..1.",
    .example = "R = asin(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
