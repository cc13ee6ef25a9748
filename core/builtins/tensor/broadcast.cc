// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

Result<int64_t> broadcast_of(std::span<const int64_t> sizes) {
  if (sizes[0] == sizes[1] || sizes[1] == 1) return sizes[0];
  if (sizes[0] == 1) return sizes[1];
  return invalid_argument(
      "'broadcast' of {} and {}: dimensions that broadcast are equal, or one of them is 1",
      sizes[0], sizes[1]);
}

}  // namespace

extern const Special broadcast;
constinit const Special broadcast = {
    .name = "broadcast",
    .call = "broadcast(N, M)",
    .tensors = 0,
    .least_numbers = 2,
    .most_numbers = 2,
    .number = broadcast_of,
    .gradient = zero_derivative("dimensions do not depend on elements"),
    .rule = "M19",
    .doc =
        "The size of a dimension that two tensors give which are broadcast: the other one where "
        "one is 1. An error if they differ otherwise.",
    .example = "S = broadcast(N, M);",
};

}  // namespace stria::builtins
