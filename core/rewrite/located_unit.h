// SPDX-License-Identifier: Apache-2.0
// Checks the units that options name against the hardware model.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Where a block runs (execution and transfer units), where a refinement's elements are (memory), or
// one of the two.
enum class UnitUse { run, hold, either };

// `option`: the JSON path of the name inside the pass's options. not_found, with the nearest right
// name, if the model has units but none called `name`; invalid_argument, with the units that would
// do, if it is of the wrong kind. A model without units knows nothing and lets every name pass, and
// so does the empty name.
Status check_unit(const HardwareModel& model, UnitUse use, const std::string& option,
                  const std::string& name);

// Also out_of_range if a constant instance number is beyond the model's count.
Status check_location(const HardwareModel& model, UnitUse use, const std::string& option,
                      const stripe::Location& location);

// For a pattern, where the name `*` is any unit.
Status check_pattern(const HardwareModel& model, const std::string& option,
                     const stripe::Location& pattern);

// Does the path begin with the pattern's units? One without numbers fits any, one with numbers only
// a unit of these constant numbers.
bool begins_with(const stripe::Location& location, const stripe::Location& pattern);

// Does each step of the location say which instance?
bool numbers_units(const stripe::Location& location);

// Does a block inside, with nothing but loops between, number the units that it runs on? If there
// is a location around, those are lane blocks, and nothing that loads or stores stands beside them.
bool holds_numbered_blocks(const stripe::Block& block);

// `location` set to `loc`, or with it appended.
stripe::Location placed(const stripe::Location& location, const stripe::Location& loc, bool append);

}  // namespace stria::passes
