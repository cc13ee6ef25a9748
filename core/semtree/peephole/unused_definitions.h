// SPDX-License-Identifier: Apache-2.0
// Drops what nothing uses.
#pragma once

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Removes definitions and loads whose variables nothing uses, and loops and conditions in which
// nothing is left.
void remove_unused(Function& function);

}  // namespace stria::semtree
