// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult stepped(const SpecialCall& call) {
  const TensorType& state = call.tensors[0];
  const std::vector<int64_t> sizes = {kPrngWords, kPrngStreams};
  if (state.type != DataType::u32 || state.sizes != sizes)
    return wrong(0, "the state of random numbers is {}, not {}", to_string(DataType::u32, sizes),
                 to_string(state.type, state.sizes));
  if (Status s = check_sizes(DataType::fp32, call.numbers, "the result of 'prng_step'"); !s.ok())
    return wrong(-1, "{}", s.message());
  return {{DataType::fp32, call.numbers}, "", -1};
}

}  // namespace

extern const Special prng_step;
constinit const Special prng_step = {
    .name = "prng_step",
    .call = "prng_step(S, size, …)",
    .tensors = 1,
    .least_numbers = 0,
    .most_numbers = -1,
    .result = stepped,
    .gradient = zero_derivative("random numbers are steps of integers"),
    .rule = "M16",
    .doc =
        "Random numbers for a tensor of the given sizes, from the state S of type u32[3, 2048]. "
        "prng_value and prng_state take out what it made.",
    .example = "T = prng_step(S, 100, 10);",
};

}  // namespace stria::builtins
