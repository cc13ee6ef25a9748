// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria::builtins {
namespace {

SpecialResult values(const SpecialCall& call) { return {call.tensors[0], "", -1}; }

}  // namespace

extern const Special prng_value;
constinit const Special prng_value = {
    .name = "prng_value",
    .call = "prng_value(T)",
    .tensors = 1,
    .least_numbers = 0,
    .most_numbers = 0,
    .result = values,
    .gradient = zero_derivative("random numbers do not depend on what is differentiated"),
    .rule = "M16",
    .doc = "The random numbers of the step T = prng_step(…): fp32, multiples of 2^-24 in [0, 1).",
    .example = "R = prng_value(T);",
};

}  // namespace stria::builtins
