// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar choose(DataType, const Scalar* x) { return x[0].truth() ? x[1] : x[2]; }

}  // namespace

extern const Builtin cond;
constinit const Builtin cond = {
    .name = "cond",
    .spelling = "?:",
    .arity = 3,
    .types = TypeRule::select,
    .reference = choose,
    .ulp = {0, 0},
    .gradient = derivative(nullptr, "cond(X, DR, 0)", "cond(X, 0, DR)"),
    .doc =
        "The second operand where the first is non-zero (NaN is), else the third. The type "
        "ignores the first.",
    .example = "R = cond(A > 0, A, 0);",
    .cost = Cost::cheap,
};

}  // namespace stria::builtins
