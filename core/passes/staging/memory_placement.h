// SPDX-License-Identifier: Apache-2.0
// Gives allocations their bytes: those that are alive together in one memory lie apart, others may
// share.
//
//   #program block [] (none new@0x0<DRAM> A[0] i8(64:1), none new@0x0<DRAM> B[0] i8(64:1)) {
//     #main block [] (in A, out B, none new@0x0<DRAM> S[0] i8(32:1), …) { … }
//   }
//   #program #placed block [] (none new@0x0<DRAM> A[0] …, none new@0x40<DRAM> B[0] …) {
//     #main block [] (in A, out B, none new@0x80<DRAM> S[0] i8(32:1), …) { … }
//   }
//
// Alive from the first to the last user, by position or by the paths of dependencies, also inside
// loops and blocks; the program's tensors are always alive; inside a pipelined block there is one
// place for each point under way. Each memory has an arena of its own, of which every instance has
// the size: no allocation lies in two banks. Several orders (by size, life, conflicts, …), each
// with the lowest place and the tightest gap, then orders near the best one; a count of steps ends
// the search, so that the result is the same everywhere. Requires: nothing. Ensures: values, and
// the program is tagged #placed and legal as such: in a program that was not, what `reqs`, `locs`
// and `skip_tags` leave out of a choice gets a place, too, or stays at byte 0 if it is skipped.
// Runs last, after schedule: passes that make buffers leave a #placed program alone.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// One memory unit: where an allocation's location ends.
struct PlacedMemory {
  std::string name;
  std::vector<int64_t> units;  // instances; none: all
};

struct MemoryPlacementOptions {
  std::vector<std::string> reqs = {"program"};  // tags of blocks; what is inside them, too
  std::vector<PlacedMemory> locs;               // memories; none: all
  int64_t alignment = 4;                        // bytes
  std::vector<std::string> skip_tags;           // of allocations that stay where they are
};

void describe(MemoryPlacementOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these; unsupported if a memory cannot
// hold what is alive together, which names the tensor, the memory and by how much, or if tensors
// that are skipped lie in each other's bytes.
Status memory_placement(stripe::Program& program, const MemoryPlacementOptions& options,
                        PassContext& context);

}  // namespace stria::passes
