// SPDX-License-Identifier: Apache-2.0
// Moves loads of memory that a group shares out of conditions. Neighbouring conditions then load
// what they have in common once, and what is left in a condition is so short that it needs no
// branch. Compilers cannot do this, as they do not know that the element exists.
//
//   if (1 <= x) { f:4 = F[o x4]; s = s + f }     f:4 = F[o x4]
//   if (x <= 6) { g:4 = F[o x4]; t = t + g }     if (1 <= x) { s = s + f }
//                                                g:4 = F[o x4]       (which merge_loads makes f)
//                                                if (x <= 6) { t = t + g }
#pragma once

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Moves loads, in a function with groups of lanes, of elements that lie in their allocation
// whatever the conditions say (Place::exists). A condition on the lane's number itself is left
// alone: there whole lanes pause. In the condition's body, no barrier may stand before the load,
// and nothing may store to that memory. Lanes that fail the condition do not use what they load;
// other lanes may be storing it at that time, if the condition alone keeps them apart. Runs before
// merge_loads.
void hoist_loads(Function& function);

}  // namespace stria::semtree
