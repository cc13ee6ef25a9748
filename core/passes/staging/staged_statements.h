// SPDX-License-Identifier: Apache-2.0
// The plan of `schedule`, and the statements that it becomes: buffers in the scratchpad, transfers
// to and from them, kernels that work on them, and dependencies.
#pragma once

#include <vector>

#include "stria/pass/pass_context.h"
#include "stria/passes/staging/schedule.h"
#include "stria/passes/staging/scratchpad_space.h"
#include "stria/passes/staging/scratchpad_tensors.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

struct StagingAction {
  enum class Kind { bring, run, take_away } kind;
  size_t kernel = 0;          // the kernel that runs, or for which the transfer is made
  std::vector<size_t> stays;  // transfers: one; run: those that the kernel works on
};

struct StagingPlan {
  const std::vector<ScratchpadTensor>& tensors;
  const std::vector<Stay>& stays;
  const std::vector<StagingAction>& actions;
};

// Replaces the block's statements by those of the plan. `place` is where the block stands.
void write_staged_statements(stripe::Block& block, const stripe::Place& place,
                             const ScheduleOptions& options, const StagingPlan& plan,
                             PassContext& context);

}  // namespace stria::passes
