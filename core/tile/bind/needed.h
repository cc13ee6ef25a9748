// SPDX-License-Identifier: Apache-2.0
// Removes what a bound program computes for nothing.
#pragma once

#include "stria/tile/bind/bound.h"

namespace stria::tile {

// Removes the statements that no output needs, and their tensors; inputs and the order stay. A
// value of which only the sizes were used is not needed.
void remove_unneeded(BoundProgram& program);

}  // namespace stria::tile
