// SPDX-License-Identifier: Apache-2.0
// Checks the units that options name against the hardware model.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// What a unit is named for: to run a block (execution and transfer units), to hold a refinement
// (memory), or either.
enum class UnitUse { run, hold, either };

// `option` is the JSON path of the name inside the pass's options. not_found, with the nearest
// right name, if the model has units but none called `name`. invalid_argument, with the units that
// would do, if the unit is of the wrong kind. Ok for a model without units, which knows nothing,
// and for an empty name.
Status check_unit(const HardwareModel& model, UnitUse use, const std::string& option,
                  const std::string& name);

// As check_unit for all units; also out_of_range if a constant instance number is beyond the count.
Status check_location(const HardwareModel& model, UnitUse use, const std::string& option,
                      const stripe::Location& location);

// As check_unit for a pattern, in which the name `*` matches any unit.
Status check_pattern(const HardwareModel& model, const std::string& option,
                     const stripe::Location& pattern);

// Does the path begin with the pattern's units? A unit without numbers matches all its instances,
// and one with numbers only a unit with these constant numbers.
bool begins_with(const stripe::Location& location, const stripe::Location& pattern);

// Does each unit of the location have a number?
bool numbers_units(const stripe::Location& location);

// Does a block inside have a location with numbers? If there is a location around, such blocks are
// lane blocks (S11), and nothing that loads or stores may stand beside them.
bool holds_numbered_blocks(const stripe::Block& block);

// `loc`, or with `append` the location followed by `loc`.
stripe::Location placed(const stripe::Location& location, const stripe::Location& loc, bool append);

}  // namespace stria::passes
