// SPDX-License-Identifier: Apache-2.0
// What a program computes from random inputs, and whether another program computes the same. This
// checks that a pass keeps values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/interp/check.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/block.h"

namespace stria::interp {

// A dense tensor with its memory.
struct GivenTensor {
  std::string name;
  stripe::RefDir dir = stripe::RefDir::in;
  TensorShape shape;  // dense
  std::vector<char> bytes;
  TensorArg arg() { return {name, bytes.data(), shape}; }
};

struct ProgramValues {
  std::vector<GivenTensor> given;   // inputs, and what outputs that continue start from
  std::vector<Reference> expected;  // of each output
};

enum class Same { exact, within_bounds };

// A tensor for that input or output; its elements are zeros.
GivenTensor empty_tensor(const ProgramTensor& like);
// Inputs, and what outputs that continue start from, as run_on_random makes them.
Result<std::vector<GivenTensor>> random_inputs(const stripe::Program& program, uint64_t seed);

// Runs the program on random tensors. They are the same for the same seed; floats are quarters in
// -2..2, integers -4..4.
Result<ProgramValues> run_on_random(const stripe::Program& program, uint64_t seed);

// Runs the program on the inputs that `values` were computed from. Refuses with what differs, or
// with why it does not run. within_bounds: floats may differ within their bounds, undecided
// elements in any way. exact: nothing may differ, but 0 and -0 are equal, and so are all NaN.
Refusal difference(const stripe::Program& program, ProgramValues& values, Same same);

}  // namespace stria::interp
