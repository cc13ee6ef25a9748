// SPDX-License-Identifier: Apache-2.0
// Whether the buses of a hardware model carry what a transfer unit is to move between two memories.
#pragma once

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/passes/schedule.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Of a tensor in the memory `far` that comes near (`in`), or goes back (`out`), or both, to and
// from every bank of the options. not_found: no bus; out_of_range: one that carries nothing. A
// model without buses says nothing, and neither do options without a transfer unit.
Status check_routes(const HardwareModel& model, const ScheduleOptions& options,
                    const stripe::Location& far, bool in, bool out);

}  // namespace stria::passes
