// SPDX-License-Identifier: Apache-2.0
// Gives allocations their byte offsets. Allocations that are alive together in one memory do not
// overlap; others may share bytes.
//
//   #program block [] (none new@0x0<DRAM> A[0] i8(64:1), none new@0x0<DRAM> B[0] i8(64:1)) {
//     #main block [] (in A, out B, none new@0x0<DRAM> S[0] i8(32:1), …) { … }
//   }
//   #program #placed block [] (none new@0x0<DRAM> A[0] …, none new@0x40<DRAM> B[0] …) {
//     #main block [] (in A, out B, none new@0x80<DRAM> S[0] i8(32:1), …) { … }
//   }
//
// An allocation is alive from its first to its last user, by position or by the paths of
// dependencies. The analysis also looks inside loops and blocks. The program's own tensors are
// always alive. In a pipelined block an allocation has one place for each point under way.
//
// Each memory has one arena. All its instances have the size of the arena, so an allocation never
// lies in two banks. The search tries several orders of the allocations (by size, by lifetime, by
// conflicts and so on), each with the lowest place and with the tightest gap, and then orders near
// the best one. A fixed number of steps ends the search, so that the result is the same on every
// machine.
//
// Requires: nothing. Ensures: the same values. The program is tagged #placed and legal as such. In
// a program that was not placed before, allocations that `reqs`, `locs` or `skip_tags` leave out
// get a place, too; those of `skip_tags` stay at byte 0. Runs last, after schedule: passes that
// make buffers leave a #placed program alone.
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
  std::vector<std::string> reqs = {"program"};  // tags of the blocks; their insides too
  std::vector<PlacedMemory> locs;               // memories; none: all
  int64_t alignment = 4;                        // bytes
  std::vector<std::string> skip_tags;           // of allocations that stay where they are
};

void describe(MemoryPlacementOptions& options, OptionFields& fields);
// not_found or out_of_range if the model has units but not these. unsupported if a memory cannot
// hold what is alive together: the message names the tensor, the memory and how many bytes are
// missing. unsupported also if tensors that are skipped overlap.
Status memory_placement(stripe::Program& program, const MemoryPlacementOptions& options,
                        PassContext& context);

}  // namespace stria::passes
