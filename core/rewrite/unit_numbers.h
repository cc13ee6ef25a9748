// SPDX-License-Identifier: Apache-2.0
// Numbers of units in a block's location, for passes that put a value in the place of an index.
#pragma once

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Points queue for the units of an index in a location, so that the index may have more values than
// there are units. A number names a unit that there is: one beyond the count becomes the unit in
// whose queue it was.
void fold_unit_numbers(stripe::Block& block, const HardwareModel& model);

}  // namespace stria::passes
