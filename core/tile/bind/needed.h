// SPDX-License-Identifier: Apache-2.0
// What a bound program computes for nothing.
#pragma once

#include "stria/tile/bind/bound.h"

namespace stria::tile {

// Takes out the statements that no output needs, and their tensors; inputs and the order stay. A
// value that was asked for its sizes alone is one that nothing needs.
void remove_unneeded(BoundProgram& program);

}  // namespace stria::tile
