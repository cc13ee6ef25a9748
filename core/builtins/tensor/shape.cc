// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult sizes_of(const SpecialCall& call) {
  const std::vector<int64_t>& sizes = call.tensors[0].sizes;
  for (int64_t size : sizes)
    if (size > std::numeric_limits<int32_t>::max())
      return wrong(0, "'shape' is of type i32, which the size {} does not fit", size);
  return {{DataType::i32, {static_cast<int64_t>(sizes.size())}}, "", -1};
}

}  // namespace

extern const Special shape;
constinit const Special shape = {
    .name = "shape",
    .call = "shape(T)",
    .tensors = 1,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = sizes_of,
    .gradient = zero_derivative("sizes do not depend on elements"),
    .rule = "M15",
    .doc = "The sizes of T as a vector of i32.",
    .example = "R = shape(T);",
};

}  // namespace stria::builtins
