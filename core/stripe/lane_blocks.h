// SPDX-License-Identifier: Apache-2.0
// Lane blocks (S11): which blocks run on lanes, and which are the loops and sequences around them.
#pragma once

#include "stria/stripe/block.h"

namespace stria::stripe {

// Does the block have a location in which each unit has a number?
bool numbers_units(const Block& block);

// Is it a loop or a sequence between a located block and its lanes, if it stands there? No stencil,
// no asynchronous block and no roles, whose lanes are each role's own.
bool is_between(const Block& block);

// Does the block have a location, and a block below it that numbers units in its location, with
// none between that does?
bool holds_lane_blocks(const Block& block);

}  // namespace stria::stripe
