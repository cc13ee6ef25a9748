// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_fp8_e5m2;
constinit const Builtin as_fp8_e5m2 = {
    .name = "as_fp8_e5m2",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0.5, 0.5},
    .gradient = derivative("0 ? X : DR"),
    .doc =
        "Conversion to fp8_e5m2, a packed float of 8 bits with 2 bits of fraction, rounded "
        "to nearest, ties to even. Beyond 57344, which is the largest number, infinity.",
    .example = "R = as_fp8_e5m2(A);",
};

}  // namespace stria::builtins
