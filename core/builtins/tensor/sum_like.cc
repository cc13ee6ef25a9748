// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult summed(const SpecialCall& call) {
  const TensorType& data = call.tensors[0];
  const TensorType& like = call.tensors[1];
  const size_t rank = like.sizes.size();
  bool fits = data.sizes.size() >= rank;
  for (size_t i = 0; i < rank && fits; ++i) {
    const int64_t size = like.sizes[i];
    fits = size == 1 || size == data.sizes[data.sizes.size() - rank + i];
  }
  if (!fits)
    return wrong(0, "'sum_like' takes what sizes [{}] can be broadcast to, not [{}]",
                 fmt::join(like.sizes, ", "), fmt::join(data.sizes, ", "));
  if (data.sizes == like.sizes) return {data, "", -1};
  return {{sum_type(data.type), like.sizes}, "", -1};
}

}  // namespace

extern const Special sum_like;
constinit const Special sum_like = {
    .name = "sum_like",
    .call = "sum_like(E, V)",
    .tensors = 2,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = summed,
    .gradient = derivative("0 ? X : DR"),
    .rule = "M20",
    .doc =
        "E summed over the dimensions that V, whose elements do not matter, was broadcast along: "
        "the "
        "sizes are those of V.",
    .example = "R = sum_like(E, V);",
};

}  // namespace stria::builtins
