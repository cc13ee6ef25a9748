// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {

extern const Builtin as_float;
constinit const Builtin as_float = {
    .name = "as_float",
    .spelling = nullptr,
    .arity = 2,
    .types = TypeRule::cast,
    .reference = reference::cast,
    .ulp = {0.5, 0.5},
    .gradient = derivative("0 ? X : DR"),
    .doc = "Conversion to a float of 16, 32 or 64 bits, rounded to nearest, ties to even.",
    .example = "R = as_float(A, 32);",
};

}  // namespace stria::builtins
