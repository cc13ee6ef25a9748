// SPDX-License-Identifier: Apache-2.0
// What a program computes from random inputs, and whether another one computes the same: the check
// that a pass keeps values.
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

// Runs the program on random tensors: the same for a seed, floats quarters in -2..2, integers
// -4..4.
Result<ProgramValues> run_on_random(const stripe::Program& program, uint64_t seed);

// Runs the program on what `values` were computed from: what is different or why it does not run.
// Floats may differ within their bounds, and undecided elements in any way (within_bounds), or
// nothing may (exact; 0 and -0 are equal, and so are all NaN).
Refusal difference(const stripe::Program& program, ProgramValues& values, Same same);

}  // namespace stria::interp
