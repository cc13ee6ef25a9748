// SPDX-License-Identifier: Apache-2.0
// What the buses of a hardware model connect: two memories over a transfer unit, and the banks of a
// scratchpad with the units that work on them.
#pragma once

#include <vector>

#include "stria/base/result.h"
#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/passes/staging/schedule.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Checks the routes of a tensor in the memory `far` that is copied in (`in`), copied out (`out`),
// or both, to and from every bank of the options. not_found: there is no bus; out_of_range: a bus
// carries nothing. Ok for a model without buses, and for options without a transfer unit.
Status check_routes(const HardwareModel& model, const ScheduleOptions& options,
                    const stripe::Location& far, bool in, bool out);

// For each statement of `block`, which banks of the scratchpad its units reach. Buses decide; a
// unit that no bus names reaches all banks. not_found: buses name a unit, but none connects it with
// the scratchpad.
Result<std::vector<std::vector<bool>>> banks_of_kernels(const stripe::Block& block,
                                                        const ScheduleOptions& options,
                                                        const HardwareModel& model);

}  // namespace stria::passes
