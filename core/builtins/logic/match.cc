// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

Result<int64_t> match_of(std::span<const int64_t> sizes) {
  if (sizes[0] == sizes[1]) return sizes[0];
  return invalid_argument("'match' of {} and {}: they must be equal", sizes[0], sizes[1]);
}

}  // namespace

extern const Special match;
constinit const Special match = {
    .name = "match",
    .call = "match(N, M)",
    .tensors = 0,
    .least_numbers = 2,
    .most_numbers = 2,
    .number = match_of,
    .gradient = zero_derivative("dimensions do not depend on elements"),
    .rule = "M19",
    .doc = "The number that both are; an error if they differ.",
    .example = "S = match(N, M);",
};

}  // namespace stria::builtins
