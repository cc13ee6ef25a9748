// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/composite.h"

namespace stria::builtins {
extern const Composite builtin_softmax;
constinit const Composite builtin_softmax = {
    .name = "builtin_softmax",
    .tile = R"(
function builtin_softmax(X[Rows, Cols], Rows, Cols) -> (R) {
  [[no_grad]] Top[r, 0 : Rows, 1] = >(X[r, c]);
  E = exp(1.0 * X - Top);
  Sum[r, 0 : Rows, 1] = +(E[r, c]);
  R = E / Sum;
})",
    .doc =
        "Softmax over the second dimension of X[Rows, Cols], shifted by the largest element of "
        "each row.",
    .example = "R = builtin_softmax(A, N, M);",
};

}  // namespace stria::builtins
