// SPDX-License-Identifier: Apache-2.0
// Parameters through which the lanes of a group hand values on; private to this folder.
#pragma once

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Sets Barrier::parameters where memory of the caller is touched before and behind it, one of the
// two a store, and Parameter::shared of that memory. Both sides of a barrier in a loop are the
// whole loop's.
void find_shared_parameters(Function& function);

}  // namespace stria::semtree
