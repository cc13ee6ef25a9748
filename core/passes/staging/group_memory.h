// SPDX-License-Identifier: Apache-2.0
// Gives what the lanes of a group share its bytes. Allocations of one element type that are never
// alive together get the same bytes, so that more groups run at once.
//
//   #kernel block<CU[g]> [g:8] (…, none new@0x0<LOCAL> S_parts[0] fp32(32:1)) {
//     0: #steps #pipeline=2 block [k:8] (…, none new@0x0<LOCAL> A_scratch[0] fp32(64:1)) { … }
//     1: block<LANE[l]> [l:32] (…, out<LOCAL> S_parts[l] fp32(1:1)) { … }
//     …
//   }
//   #kernel #placed="LOCAL" block<CU[g]> [g:8] (…, none new@0x0<LOCAL> S_parts[0] fp32(32:1)) {
//     0: #steps #pipeline=2 block [k:8] (…, none new@0x0<LOCAL> A_scratch[0] fp32(64:1)) { … }
//     1: special barrier()
//     2: block<LANE[l]> [l:32] (…, out<LOCAL> S_parts[l] fp32(1:1)) { … }
//     …
//   }
//
// Lanes do not wait for each other, so a barrier must stand between the last user of the one and
// the first user of the other (allocation_lives.h). Where a barrier between two statements of the
// kernel saves enough bytes, the pass adds it; the one that saves most comes first. A kernel in
// which all that saves less than `min_bytes` stays as it is, unless its allocations do not fit
// into the memory. Allocations of different element types never share bytes: not every device can
// read its shared memory as another type.
//
// Requires: nothing. Ensures: the same values. A changed kernel is tagged #placed with the memory's
// name: its allocations there have their bytes. Runs last, since what other passes add may make
// allocations live longer. No shipped pipeline runs it: on the GPU that was measured, kernels were
// no faster (docs/decisions/20261126-group-memory.md). It is for devices with little such memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct GroupMemoryOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string memory;                          // memory unit that the lanes of a group share
  int64_t alignment = 0;                       // bytes; 0: the calibration of the model says
  int64_t min_bytes = 1;                       // that a barrier saves, and that all saves
};

void describe(GroupMemoryOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one.
Status group_memory(stripe::Program& program, const GroupMemoryOptions& options,
                    PassContext& context);

}  // namespace stria::passes
