// SPDX-License-Identifier: Apache-2.0
// Angles to a quarter turn. Private to this folder.
#pragma once

#include "stria/semtree/mathematics/function_builder.h"

namespace stria::semtree::mathematics {

// angle = quadrant * pi / 2 + rest, |rest| a little above pi / 4 at most.
struct QuarterTurn {
  Value rest;      // within 2 ULP; NaN for infinite and NaN angles
  Value quadrant;  // an integer as wide; its last two bits are right
};

// Of an angle that is not negative, of any size.
QuarterTurn quarter_turn(const Value& angle);

}  // namespace stria::semtree::mathematics
