// SPDX-License-Identifier: Apache-2.0
// A program's gradient against central differences of the program itself, element by element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numeric_function.h"

namespace stria::gradient_proof {

struct ProofOptions {
  std::string of;       // one output; empty: all of them
  int elements = 1000;  // of each input that are moved; chosen by `seed` if there are more
  uint64_t seed = 1;    // also of the numbers that flow back to each output
};

struct Proof {
  int regular = 0;    // elements that were compared
  int irregular = 0;  // elements at a kink or jump, where nothing is asked
  int wrong = 0;
  std::string first_wrong;  // "" if there is none
  Proof& operator+=(const Proof& other);
  double irregular_share() const;
};

// Differentiates `program` by every fp64 input at `inputs` (in the order of its parameters). The
// loss is the sum of all elements of the outputs, each with a weight of its own, which are what is
// given to the derivative. Fails if one of the programs does not compile or run.
Result<Proof> prove(const Device& device, const Program& program,
                    const std::vector<Numbers>& inputs, const ProofOptions& options = {});

// Of these outputs those that have a parameter in the gradient's program, behind the `inputs` of
// the program itself: all but those whose rank is known to be 0, which count 1, and those that
// nothing flows back from.
std::vector<TensorInfo> given_outputs(const Program& gradient, size_t inputs,
                                      const std::vector<TensorInfo>& outputs);

// Numbers of -2 .. 2 that are multiples of 2^-10, no two of one tensor equal while there are
// enough.
Numbers distinct_numbers(std::vector<int64_t> sizes, uint64_t seed);

}  // namespace stria::gradient_proof
