// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult scattered(const SpecialCall& call) {
  const TensorType& data = call.tensors[0];
  const TensorType& index = call.tensors[1];
  const TensorType& like = call.tensors[2];
  if (!is_integer(index.type))
    return wrong(1, "the index of 'scatter' is of an integer type, not {}", name_of(index.type));
  if (like.sizes.empty())
    return wrong(2, "the first size of this tensor is the number of rows, and it has rank 0");
  const size_t rank = index.sizes.size();
  for (size_t d = 0; d < rank; ++d)
    if (data.sizes.size() < rank || data.sizes[d] != index.sizes[d])
      return wrong(0, "'scatter' takes one row for each index: the sizes [{}] must begin with [{}]",
                   fmt::join(data.sizes, ", "), fmt::join(index.sizes, ", "));
  SpecialResult out{{sum_type(data.type), {like.sizes[0]}}, "", -1};
  out.type.sizes.insert(out.type.sizes.end(),
                        data.sizes.begin() + static_cast<std::ptrdiff_t>(rank), data.sizes.end());
  return out;
}

}  // namespace

extern const Special scatter;
constinit const Special scatter = {
    .name = "scatter",
    .call = "scatter(E, I, V)",
    .tensors = 3,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = scattered,
    .gradient = derivative("gather_or_zero(DR, Y)"),
    .rule = "M14",
    .doc =
        "Row r is the sum of the rows of E whose integer in I is r, 0 if there is none; rows of "
        "other integers are left out. There are as many rows as V has.",
    .example = "R = scatter(E, I, V);",
};

}  // namespace stria::builtins
