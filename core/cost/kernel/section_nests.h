// SPDX-License-Identifier: Apache-2.0
// The kernels of a section of a device's program, each in its place among the others: what they
// touch between two uses of a tensor may push it out of a cache.
#pragma once

#include <vector>

#include "stria/cost/kernel/kernel_nest.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct SectionNest {
  const stripe::Block* kernel = nullptr;  // a statement of the section
  KernelNest nest;                        // with `since_bytes` of its tensors
};

// In the order of statements; specials are not among them, but what they use counts, whole.
// `again`: the section's end is followed by its beginning, as that of main is. Else what no
// statement before has used is as far away as can be (infinity). Pure; a nest costs as much as
// kernel_nest.
//
// Rule: the last use is the last statement that touches at least half as much of the tensor as the
// kernel does. since_bytes is what that one touches of it, and what the statements between touch of
// all tensors, each tensor once, in lines of the model's nearest cache.
std::vector<SectionNest> section_nests(const stripe::Block& section, const HardwareModel& model,
                                       bool again);

}  // namespace stria::cost
