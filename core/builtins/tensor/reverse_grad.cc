// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/composite.h"

namespace stria::builtins {
extern const Composite reverse_grad;
constinit const Composite reverse_grad = {
    .name = "reverse_grad",
    .tile = R"(
function reverse_grad(X, Y) -> (R) {
  R = ident(X);
})",
    .doc =
        "X itself; the gradient that flows back to X is turned round and scaled by the number Y, "
        "as training against an adversary needs it.",
    .example = "R = reverse_grad(A, 0.5);",
    .gradient = derivative("-Y * DR"),
};

}  // namespace stria::builtins
