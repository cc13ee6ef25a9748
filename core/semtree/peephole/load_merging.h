// SPDX-License-Identifier: Apache-2.0
// Loads of what a group shares. Neighbouring elements become one load of a vector and its lanes:
// local memory gives a lane 16 bytes in the time of 4, and compilers cannot always prove that they
// lie there. What is loaded again, alone or as a lane of a vector, is what was loaded first.
//
//   a = A[4*i + 132*k]; …; d = A[4*i + 132*k + 3]      v:4 = A[4*i + 132*k]; a = lane(v, 0); …
//   b:4 = B[o x4]; …; c:4 = B[o x4]                    b:4 = B[o x4]; c is b
#pragma once

#include <cstdint>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// In straight-line code, and in conditions in it, in which nothing may write them in between. A
// vector has `vector_bytes`, its first element's number is known to be a multiple of their number,
// and all its elements are loaded.
void merge_loads(Function& function, int64_t vector_bytes);

}  // namespace stria::semtree
