// SPDX-License-Identifier: Apache-2.0
// Loads of neighbouring elements of what a group shares become one load of a vector and its lanes: local
// memory gives a lane 16 bytes in the time of 4, and compilers cannot always prove that they lie there.
//
//   a = A[4*i + 132*k]; …; d = A[4*i + 132*k + 3]      v:4 = A[4*i + 132*k]; a = lane(v, 0); …
#pragma once

#include <cstdint>

#include "stria/semtree/tree.h"

namespace stria::semtree {

// In straight-line code, where all elements of a vector of `vector_bytes` are loaded one by one, its first
// element's number is known to be a multiple of their number, and nothing in between may write them.
void merge_loads(Function& function, int64_t vector_bytes);

}  // namespace stria::semtree
