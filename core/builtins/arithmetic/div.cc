// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

int64_t divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? reference::wrapping_sub(0, a) : a / b;
}
uint64_t divide_unsigned(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }

}  // namespace

extern const Builtin div;
constinit const Builtin div = {
    .name = "div",
    .spelling = "/",
    .arity = 2,
    .types = TypeRule::arithmetic,
    .reference =
        reference::signed_binary<[](double a, double b) { return a / b; }, divide, divide_unsigned>,
    .ulp = {2.5, 0.5},
    .gradient = derivative("DR / Y", "-DR * R / Y"),
    .doc =
        "Quotient. Integers truncate toward zero; x / 0 is 0 and MIN / -1 is MIN. Floats "
        "follow IEEE 754.",
    .example = "R = A / B;",
    .total = false,
    .right_unit = Unit::one,
};

}  // namespace stria::builtins
