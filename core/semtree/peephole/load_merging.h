// SPDX-License-Identifier: Apache-2.0
// Merges loads of memory that a group shares. Loads of neighbouring elements become one load of a
// vector and its lanes: local memory gives a lane 16 bytes in the time of 4, and compilers cannot
// always prove that the elements are neighbours. A second load of an element, alone or as a lane of
// a vector, becomes the value that was loaded first.
//
//   a = A[4*i + 132*k]; …; d = A[4*i + 132*k + 3]      v:4 = A[4*i + 132*k]; a = lane(v, 0); …
//   b:4 = B[o x4]; …; c:4 = B[o x4]                    b:4 = B[o x4]; c is b
#pragma once

#include <cstdint>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Works on straight-line code, and on conditions in it, as long as nothing may write the elements
// in between. A vector has `vector_bytes`. The number of its first element is known to be a
// multiple of its lanes, and all its elements are loaded.
void merge_loads(Function& function, int64_t vector_bytes);

}  // namespace stria::semtree
