// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/composite.h"

namespace stria::builtins {
extern const Composite builtin_logsoftmax;
constinit const Composite builtin_logsoftmax = {
    .name = "builtin_logsoftmax",
    .tile = R"(
function builtin_logsoftmax(X[Rows, Cols], Rows, Cols) -> (R) {
  [[no_grad]] Top[r, 0 : Rows, 1] = >(X[r, c]);
  Shifted = 1.0 * X - Top;
  E = exp(Shifted);
  Sum[r, 0 : Rows, 1] = +(E[r, c]);
  R = Shifted - log(Sum);
})",
    .doc = "Logarithm of the softmax over the second dimension of X[Rows, Cols], shifted like it.",
    .example = "R = builtin_logsoftmax(A, N, M);",
};

}  // namespace stria::builtins
