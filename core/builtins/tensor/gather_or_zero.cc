// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult gathered_or_zero(const SpecialCall& call) {
  return gather_result("gather_or_zero", call);
}

}  // namespace

extern const Special gather_or_zero;
constinit const Special gather_or_zero = {
    .name = "gather_or_zero",
    .call = "gather_or_zero(D, I)",
    .tensors = 2,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = gathered_or_zero,
    .gradient = derivative("scatter(DR, Y, X)"),
    .rule = "M13",
    .doc = "As gather, but zeros where an integer of I is no row of D.",
    .example = "R = gather_or_zero(D, I);",
};

}  // namespace stria::builtins
