// SPDX-License-Identifier: Apache-2.0
// What the buses of a hardware model carry: between two memories over a transfer unit, and from the
// banks of a scratchpad to the units that work on them.
#pragma once

#include <vector>

#include "stria/base/result.h"
#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/passes/staging/schedule.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Of a tensor in the memory `far` that comes near (`in`), or goes back (`out`), or both, to and
// from every bank of the options. not_found: no bus; out_of_range: one that carries nothing. A
// model without buses says nothing, and neither do options without a transfer unit.
Status check_routes(const HardwareModel& model, const ScheduleOptions& options,
                    const stripe::Location& far, bool in, bool out);

// By statement of `block`, which banks of the scratchpad its units reach: over buses that name
// them, all where none does. not_found: a unit that buses name, but none to the scratchpad.
Result<std::vector<std::vector<bool>>> banks_of_kernels(const stripe::Block& block,
                                                        const ScheduleOptions& options,
                                                        const HardwareModel& model);

}  // namespace stria::passes
