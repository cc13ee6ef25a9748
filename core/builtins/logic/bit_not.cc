// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
namespace {

Scalar complement(DataType type, const Scalar* x) {
  return Scalar::of_int(type, type == DataType::boolean ? x[0].i ^ 1 : ~x[0].i);
}

}  // namespace

extern const Builtin bit_not;
constinit const Builtin bit_not = {
    .name = "bit_not",
    .spelling = "~",
    .arity = 1,
    .types = TypeRule::bits,
    .reference = complement,
    .ulp = {0, 0},
    .gradient = no_derivative("bits have no derivative"),
    .doc = "Bitwise complement; on bool the logical one.",
    .example = "R = ~A;",
};

}  // namespace stria::builtins
