// SPDX-License-Identifier: Apache-2.0
// Says in which memory unit refinements live.
//
//   #kernel block [x:8] (in I[x] fp32(1:1), out O[x] fp32(1:1)) { S }              loc: DRAM
//   #kernel block [x:8] (in<DRAM> I[x] fp32(1:1), out<DRAM> O[x] fp32(1:1)) { S }
//
// Sets the location of those refinements of the selected blocks that have none, and of every view
// of them further inside.
//
// Requires: nothing. Ensures: only locations change, and no values. Runs after the passes that make
// buffers of their own (vectorize, localize), whose locations it keeps.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct LocateMemoryOptions {
  std::vector<std::string> reqs = {"program"};  // tags that a block must have
  std::vector<std::string> ref_reqs;            // tags that a refinement must have
  stripe::Location loc;                         // memory units of the hardware model
  bool append = false;                          // add it to the location that a refinement has
  bool inside = false;                          // also refinements of the blocks inside
};

void describe(LocateMemoryOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these, invalid_argument if one holds
// nothing.
Status locate_memory(stripe::Program& program, const LocateMemoryOptions& options,
                     PassContext& context);

}  // namespace stria::passes
