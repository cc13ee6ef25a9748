// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

// Below zero from the small side: exp(-x) would leave fp64 where the result does not.
double logistic(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

}  // namespace

extern const Builtin sigmoid;
constinit const Builtin sigmoid = {
    .name = "sigmoid",
    .spelling = nullptr,
    .arity = 1,
    .types = TypeRule::floating,
    .reference = reference::float_unary<logistic>,
    .ulp = {8, 8},
    .gradient = derivative("DR * R * (1 - R)"),
    .doc = "Logistic function 1 / (1 + exp(-x)).",
    .example = "R = sigmoid(A);",
    .cost = Cost::slow,
};

}  // namespace stria::builtins
