// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_fp4;
constinit const Builtin as_fp4 = {
    .name = "as_fp4",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0.5, 0.5},
    .gradient = derivative("0 ? X : DR"),
    .doc =
        "Conversion to fp4, a packed float of 4 bits with 1 bit of fraction, rounded to "
        "nearest, ties to even. Beyond 6, which is the largest number, 6; of NaN 0.",
    .example = "R = as_fp4(A);",
};

}  // namespace stria::builtins
