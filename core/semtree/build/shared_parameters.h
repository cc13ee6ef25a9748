// SPDX-License-Identifier: Apache-2.0
// Parameters through which the lanes of a group hand values on; private to this folder.
#pragma once

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Sets Barrier::parameters if memory of the caller is touched both before and behind the barrier
// and one of the two is a store, and Parameter::shared of that memory. For a barrier in a loop,
// both sides are the whole loop.
void find_shared_parameters(Function& function);

}  // namespace stria::semtree
