// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult indexed(const SpecialCall& call) {
  const std::vector<int64_t>& sizes = call.tensors[0].sizes;
  const int64_t axis = call.numbers[0], rank = static_cast<int64_t>(sizes.size());
  if (rank == 0) return wrong(1, "the tensor has no dimension to take the index of");
  if (axis < 0 || axis >= rank)
    return wrong(1, "axis {} is out of range: the tensor has {} dimension{}, 0 to {}", axis, rank,
                 rank == 1 ? "" : "s", rank - 1);
  const int64_t size = sizes[static_cast<size_t>(axis)];
  if (size > std::numeric_limits<int32_t>::max())
    return wrong(-1, "dimension {} has {} elements, too many for an index of type i32", axis, size);
  return {{DataType::i32, sizes}, "", -1};
}

}  // namespace

extern const Special index;
constinit const Special index = {
    .name = "index",
    .call = "index(T, axis)",
    .tensors = 1,
    .least_numbers = 1,
    .most_numbers = 1,
    .result = indexed,
    .gradient = zero_derivative("coordinates are integers"),
    .rule = "M15",
    .doc = "The coordinate of every element along one dimension, of type i32, with the sizes of T.",
    .example = "R = index(T, 0);",
};

}  // namespace stria::builtins
