// SPDX-License-Identifier: Apache-2.0
// Loads of what a group shares, taken out of conditions: those that follow one another load what
// they share once, and what is left in them is so short that it needs no branch. Compilers cannot,
// as they do not know that the element is there.
//
//   if (1 <= x) { f:4 = F[o x4]; s = s + f }     f:4 = F[o x4]
//   if (x <= 6) { g:4 = F[o x4]; t = t + g }     if (1 <= x) { s = s + f }
//                                                g:4 = F[o x4]       (which merge_loads makes f)
//                                                if (x <= 6) { t = t + g }
#pragma once

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Of a function whose lanes run together, loads of elements that lie in their allocation whatever
// the conditions say (Place::exists). Not where the condition asks for the lane's number itself:
// there whole lanes pause. Before the load no barrier stands in the condition's body, and nothing
// in it stores to that memory. Lanes that fail the condition use nothing of what they load, which
// others may be storing at that time if the condition alone keeps them apart. Runs before
// merge_loads.
void hoist_loads(Function& function);

}  // namespace stria::semtree
