// SPDX-License-Identifier: Apache-2.0
// Numbers of units in a block's location, for passes that replace an index by a value.
#pragma once

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// An index in a location may have more values than there are units; points then queue for the
// units. A constant number must name an existing unit. Replaces each constant number beyond the
// count by the unit in whose queue the point was.
void fold_unit_numbers(stripe::Block& block, const HardwareModel& model);

}  // namespace stria::passes
