// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_bfloat;
constinit const Builtin as_bfloat = {
    .name = "as_bfloat",
    .spelling = nullptr,
    .arity = 2,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0.5, 0.5},
    .gradient = derivative("0 ? X : DR"),
    .doc =
        "Conversion to bf16, the float of 16 bits with the exponent of fp32, rounded to nearest, "
        "ties to even.",
    .example = "R = as_bfloat(A, 16);",
};

}  // namespace stria::builtins
