// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult gathered(const SpecialCall& call) { return gather_result("gather", call); }

}  // namespace
}  // namespace stria::builtins

namespace stria {

SpecialResult gather_result(const char* name, const SpecialCall& call) {
  const TensorType& data = call.tensors[0];
  const TensorType& index = call.tensors[1];
  if (data.sizes.empty())
    return wrong(0, "'{}' takes rows of a tensor, and this one has rank 0", name);
  if (!is_integer(index.type))
    return wrong(1, "the index of '{}' is of an integer type, not {}", name, name_of(index.type));
  SpecialResult out{{data.type, index.sizes}, "", -1};
  out.type.sizes.insert(out.type.sizes.end(), data.sizes.begin() + 1, data.sizes.end());
  bool empty = false;
  for (int64_t size : out.type.sizes) empty = empty || size == 0;
  if (data.sizes[0] == 0 && !empty)
    return wrong(0, "'{}' from {}, which has no row", name, to_string(data.type, data.sizes));
  return out;
}

}  // namespace stria

namespace stria::builtins {

extern const Special gather;
constinit const Special gather = {
    .name = "gather",
    .call = "gather(D, I)",
    .tensors = 2,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = gathered,
    .gradient = derivative("scatter(DR, max(min(as_int(Y, 64), size(X, 0) - 1), 0), X)"),
    .rule = "M13",
    .doc =
        "The rows of D that the integers of I name, each clamped to 0 .. rows-1. The sizes are "
        "those of I, then those of D without the first.",
    .example = "R = gather(D, I);",
};

}  // namespace stria::builtins
