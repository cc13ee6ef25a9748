// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar shift_left(DataType type, const Scalar* x) {
  const int count = reference::shift_count(type, x[1].i);
  return Scalar::of_int(type, static_cast<int64_t>(static_cast<uint64_t>(x[0].i) << count));
}

}  // namespace

extern const Builtin bit_left;
constinit const Builtin bit_left = {
    .name = "bit_left",
    .spelling = "<<",
    .arity = 2,
    .types = TypeRule::bits,
    .reference = shift_left,
    .ulp = {0, 0},
    .gradient = no_derivative("bits have no derivative"),
    .doc = "Shift to the left. The count is taken modulo the width of the type.",
    .example = "R = A << 3;",
    .right_unit = Unit::zero,
};

}  // namespace stria::builtins
