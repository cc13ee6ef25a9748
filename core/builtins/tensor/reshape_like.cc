// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"
#include "stria/type/tensor_shape.h"

namespace stria::builtins {
namespace {

SpecialResult reshaped_like(const SpecialCall& call) {
  const TensorType& from = call.tensors[0];
  const TensorType& like = call.tensors[1];
  const int64_t before = dense_shape(from.type, from.sizes).element_count();
  const int64_t after = dense_shape(from.type, like.sizes).element_count();
  if (before != after)
    return wrong(-1, "'reshape_like' keeps the number of elements: [{}] has {}, [{}] has {}",
                 fmt::join(from.sizes, ", "), before, fmt::join(like.sizes, ", "), after);
  return {{from.type, like.sizes}, "", -1};
}

}  // namespace

extern const Special reshape_like;
constinit const Special reshape_like = {
    .name = "reshape_like",
    .call = "reshape_like(T, V)",
    .tensors = 2,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = reshaped_like,
    .gradient = derivative("reshape_like(DR, X)"),
    .rule = "M15",
    .doc = "reshape(T, …) with the sizes of V, whose elements do not matter.",
    .example = "R = reshape_like(T, V);",
};

}  // namespace stria::builtins
