// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult sized(const SpecialCall& call) {
  const int64_t axis = call.numbers[0];
  const auto rank = static_cast<int64_t>(call.tensors[0].sizes.size());
  if (axis < 0 || axis >= rank)
    return wrong(1, "axis {} is out of range: the tensor has rank {}", axis, rank);
  return {{DataType::i64, {}}, "", -1};
}

}  // namespace

extern const Special size;
constinit const Special size = {
    .name = "size",
    .call = "size(T, axis)",
    .tensors = 1,
    .least_numbers = 1,
    .most_numbers = 1,
    .result = sized,
    .gradient = zero_derivative("sizes do not depend on elements"),
    .rule = "M19",
    .doc =
        "The size of T along one dimension: a number as a dimension is one, where no parameter "
        "gives it a name.",
    .example = "N = size(T, 1);",
};

}  // namespace stria::builtins
