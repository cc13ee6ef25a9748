// SPDX-License-Identifier: Apache-2.0
// Swizzles allocations in banked memory, so that lanes meet different banks. It leaves no gap
// between rows.
//
//   none new<LOCAL> A_scratch[0, 0] fp32(32:32, 32:1)              lanes read a column: one bank
//   none new<LOCAL> A_scratch[0, 0] fp32(32:32, 32:1) swizzle(5, 0, 5)               … 32 banks
//
// A swizzle XORs some bits of an element's number with others (S: swizzle(bits, base, shift)). The
// pass takes the swizzle with which the lanes of all blocks wait least; of equals the simplest, and
// none if that is as good. The wait of an access is the number of distinct words in the worst bank,
// for neighbouring lanes that run together, at the first points of the loops inside.
//
// Requires: lane blocks; nothing but lanes touches the allocation. Ensures: the layout alone
// changes. Runs after thread_lanes.
//
// No shipped pipeline runs it: `cache` lays rows out with a gap (`odd`, `outputs`), and lanes of
// their devices can read rows with gaps. It is for matrix units that load fragments from banked
// memory, where a gap breaks the alignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct SwizzleOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string memory = "LOCAL";                // memory unit of the allocations
  // Of these, 0: the model says, or its calibration.
  int64_t banks = 0;       // of that memory; a power of two
  int64_t bank_bytes = 0;  // of a word
  int64_t lanes = 0;       // that run together
};

void describe(SwizzleOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status swizzle(stripe::Program& program, const SwizzleOptions& options, PassContext& context);

}  // namespace stria::passes
