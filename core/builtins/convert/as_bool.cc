// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_bool;
constinit const Builtin as_bool = {
    .name = "as_bool",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0, 0},
    .gradient = no_derivative("the result is no real number"),
    .doc = "Conversion to bool: true where the operand is non-zero (NaN is).",
    .example = "R = as_bool(A);",
};

}  // namespace stria::builtins
