// SPDX-License-Identifier: Apache-2.0
// Makes a program that shows a failure small. As long as the failure stays, it drops statements,
// blocks, refinements, constraints and indices, shrinks ranges and tensors, unwraps blocks, and
// makes forms, types and names plain. A step may change what the program means; the caller says
// what still counts as the failure.
#pragma once

#include <cstdint>
#include <functional>

#include "stria/stripe/block.h"

namespace stria {

struct ShrinkOptions {
  int64_t max_tries = 100000;  // candidates that are asked about
  // Called before each candidate: true ends the search with the best program so far.
  std::function<bool()> stop;
};

struct ShrinkReport {
  int64_t tried = 0;      // candidates asked about
  int64_t kept = 0;       // of these, how many still failed
  bool complete = false;  // nothing more can be done: no step at all keeps the failure
};

// The smallest program found for which `fails` is true, as it is for `program`. Smaller means fewer
// words and numbers in the text, then smaller numbers, then less text. The same answers give the
// same program. `fails` may be given programs that are not legal, but each of them prints and reads
// back.
stripe::Program shrink(stripe::Program program,
                       const std::function<bool(const stripe::Program&)>& fails,
                       const ShrinkOptions& options = {}, ShrinkReport* report = nullptr);

}  // namespace stria
