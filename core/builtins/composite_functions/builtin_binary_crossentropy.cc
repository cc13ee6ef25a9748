// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/composite.h"

namespace stria::builtins {
extern const Composite builtin_binary_crossentropy;
constinit const Composite builtin_binary_crossentropy = {
    .name = "builtin_binary_crossentropy",
    .tile = R"(
function builtin_binary_crossentropy(P, T, Scale) -> (R) {
  R = -Scale * (T * log(P) + (1 - T) * log(1 - P));
})",
    .doc =
        "Cross-entropy of the probabilities P and the targets T, element by element, times Scale.",
    .example = "R = builtin_binary_crossentropy(A, B, 1.0);",
};

}  // namespace stria::builtins
