// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar same(DataType, const Scalar* x) { return x[0]; }

}  // namespace

extern const Builtin ident;
constinit const Builtin ident = {
    .name = "ident",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::same,
    .reference = same,
    .ulp = {0, 0},
    .gradient = derivative("DR"),
    .doc =
        "The operand itself. In Stripe ident.T is the cast to T: integers wrap, float to "
        "integer truncates and saturates with NaN giving 0, anything to bool is != 0.",
    .example = "R = ident(A);",
    .cost = Cost::cheap,
    .total = false,
};

}  // namespace stria::builtins
