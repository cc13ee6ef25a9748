// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/composite.h"

namespace stria::builtins {
extern const Composite mad;
constinit const Composite mad = {
    .name = "mad",
    .tile = R"(
function mad(X, Y, Z) -> (R) {
  R = X * Y + Z;
})",
    .doc = "X * Y + Z; the product and the sum may contract to one operation.",
    .example = "R = mad(A, B, C);",
};

}  // namespace stria::builtins
