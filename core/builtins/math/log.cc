// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin log;
constinit const Builtin log = {
    .name = "log",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<[](double x) { return std::log(x); }>,
    .ulp = {3, 3},
    .gradient = derivative("DR / X"),
    .doc = "Natural logarithm; -inf at zero, NaN below.",
    .example = "R = log(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
