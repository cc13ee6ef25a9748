// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin sigmoid;
constinit const Builtin sigmoid = {
    .name = "sigmoid",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return 1 / (1 + std::exp(-x)); }>,
    .ulp = {8, 8},
    .gradient = derivative("DR * R * (1 - R)"),
    .doc = "Logistic function 1 / (1 + exp(-x)).",
    .example = "R = sigmoid(A);",
};

}  // namespace stria::builtins
