// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult state(const SpecialCall&) {
  return {{DataType::u32, {kPrngWords, kPrngStreams}}, "", -1};
}

}  // namespace

extern const Special prng_state;
constinit const Special prng_state = {
    .name = "prng_state",
    .call = "prng_state(T)",
    .tensors = 1,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = state,
    .gradient = zero_derivative("the state is made of integers"),
    .rule = "M16",
    .doc = "The state after the step T = prng_step(…), for the next one.",
    .example = "R = prng_state(T);",
};

}  // namespace stria::builtins
