// SPDX-License-Identifier: Apache-2.0
// What a program computes from given inputs, and whether another one computes the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/interp/check.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/block.h"

namespace stria::trust {

struct ProgramTensor {
  std::string name;
  stripe::RefDir dir = stripe::RefDir::in;
  TensorShape shape;  // dense
  std::vector<char> bytes;
  interp::TensorArg arg() { return {name, bytes.data(), shape}; }
};

struct ProgramValues {
  std::vector<ProgramTensor> given;         // inputs, and what outputs that continue start from
  std::vector<interp::Reference> expected;  // of each output
};

enum class Same { exact, within_bounds };

// Runs the program on random tensors: the same for a seed, floats quarters in -2..2, integers
// -4..4.
Result<ProgramValues> run_on_random(const stripe::Program& program, uint64_t seed);

// Runs the program on what `values` were computed from. "" or what is different; it is undecided
// elements and floats within their bounds that may differ (Same::within_bounds), or nothing.
std::string difference(const stripe::Program& program, ProgramValues& values, Same same);

}  // namespace stria::trust
