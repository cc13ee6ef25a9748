// SPDX-License-Identifier: Apache-2.0
// Checks the units that options name against the hardware model.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// not_found, with the nearest right name, if the model has units but none called `name`. A model
// without units knows nothing and lets every name pass, and so does the empty name.
Status check_unit(const HardwareModel& model, const std::string& name);

// Also out_of_range if a constant instance number is beyond the model's count.
Status check_location(const HardwareModel& model, const stripe::Location& location);

}  // namespace stria::passes
