// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_fp8_e4m3;
constinit const Builtin as_fp8_e4m3 = {
    .name = "as_fp8_e4m3",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0.5, 0.5},
    .gradient = derivative("0 ? X : DR"),
    .doc =
        "Conversion to fp8_e4m3, a packed float of 8 bits with 3 bits of fraction, rounded "
        "to nearest, ties to even. Beyond 448, which is the largest number, NaN.",
    .example = "R = as_fp8_e4m3(A);",
};

}  // namespace stria::builtins
