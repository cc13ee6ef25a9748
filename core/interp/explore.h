// SPDX-License-Identifier: Apache-2.0
// Is a program right under every interleaving that the rules allow (S19)? Tries many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stria/base/status.h"
#include "stria/interp/interleaving.h"
#include "stria/stripe/block.h"

namespace stria::interp {

struct Exploration {
  int64_t runs = 0;
  bool concurrent = false;  // several agents go on at once somewhere; else one run says all
  // The shortest interleaving found that fails, and how; none: all runs gave the same. A race is
  // told rather than phases out of order that it leads to. Tensors of floats are not compared
  // where agents combine into one element in any order (M10).
  std::optional<Interleaving> failing;
  Status failure;
};

// Runs the program on random inputs (program_values.h) under the plain interleaving and those of
// the numbers 1 .. count-1. One that fails is made shorter: without switches that it does not need.
// An error: the program cannot run at all.
Result<Exploration> explore(const stripe::Program& program, int64_t count, uint64_t seed = 1);

}  // namespace stria::interp
