// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult reshaped(const SpecialCall& call) {
  const TensorType& from = call.tensors[0];
  if (Status s = check_sizes(from.type, call.numbers, "the result of 'reshape'"); !s.ok())
    return wrong(-1, "{}", s.message());
  const int64_t before = dense_shape(from.type, from.sizes).element_count();
  const int64_t after = dense_shape(from.type, call.numbers).element_count();
  if (before != after)
    return wrong(-1, "'reshape' keeps the number of elements: [{}] has {}, [{}] has {}",
                 fmt::join(from.sizes, ", "), before, fmt::join(call.numbers, ", "), after);
  return {{from.type, call.numbers}, "", -1};
}

}  // namespace

extern const Special reshape;
constinit const Special reshape = {
    .name = "reshape",
    .call = "reshape(T, size, …)",
    .tensors = 1,
    .least_numbers = 0,
    .most_numbers = -1,
    .result = reshaped,
    .gradient = derivative("reshape_like(DR, X)"),
    .rule = "M15",
    .doc = "The elements of T in row-major order under other sizes, as many as there were.",
    .example = "R = reshape(T, 2, 3);",
};

}  // namespace stria::builtins
