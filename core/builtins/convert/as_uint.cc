// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_uint;
constinit const Builtin as_uint = {
    .name = "as_uint",
    .spelling = nullptr,
    .arity = 2,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0, 0},
    .gradient = no_derivative("the result is no real number"),
    .doc =
        "Conversion to an unsigned integer of 2, 4, 8, 16, 32 or 64 bits: integers wrap; floats "
        "truncate and saturate, NaN gives 0.",
    .example = "R = as_uint(A, 8);",
    .total = false,
};

}  // namespace stria::builtins
