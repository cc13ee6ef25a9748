// SPDX-License-Identifier: Apache-2.0
// Tells whether a program obeys the rules of the IR. Runs after every pass in tests and debug
// builds, and on every Stripe file read. Messages name the block's path, the statement or
// refinement, the value and the rule. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::stripe {

// What a caller knows of an intrinsic that stripe cannot: see core/builtins.
struct IntrinsicSignature {
  int operands = 0;
};

struct VerifyOptions {
  // Known intrinsics by name; null: any name and operand count passes. Borrowed.
  const std::map<std::string, IntrinsicSignature>* intrinsics = nullptr;
  // Units of the hardware model by name with their counts; null: any location passes. Borrowed.
  const std::map<std::string, int64_t>* units = nullptr;
  // Prove that executed loads and stores lie inside their allocations and that parallel points do
  // not race. Needs integer sets; the rest of the rules is linear in the program's size.
  bool accesses = true;
};

struct VerifyReport {
  // What could not be decided within its budget; not an error.
  std::vector<std::string> warnings;
  int64_t accesses = 0;          // loads and stores checked
  int64_t proved_by_box = 0;     // by intervals alone
  int64_t unknown_accesses = 0;  // undecided, one warning each
};

// Ok, or invalid_argument with one line per broken rule (20 at most). `report`, if given, is filled
// either way.
Status verify(const Program& program, const VerifyOptions& options = {},
              VerifyReport* report = nullptr);

// Whether points of `kernel`, a block of #main, that differ in one of these indices may store to one
// element of an aggregation that takes the values of all of them. The verifier lets parallel points do
// so; who runs them at once has to keep their stores apart. True where it cannot be decided. The
// program has passed the verifier.
bool combines_across_points(const Block& main, const Block& kernel,
                            const std::vector<std::string>& indices);

}  // namespace stria::stripe
