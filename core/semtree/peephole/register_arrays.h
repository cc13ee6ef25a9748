// SPDX-License-Identifier: Apache-2.0
// Makes variables of small arrays: each slot of an array whose subscripts are all constant is a
// register. The array is one lane's own, so nobody else sees the difference.
//
//   acc[0] = acc[0] + x;  acc[1] = acc[1] + y      acc_0 = acc_0 + x;  acc_1 = acc_1 + y
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// `wanted[i]` says that function.arrays[i] may be in registers. It gets `in_registers` if every
// access has a constant subscript, and all accesses have the same number of contiguous lanes and
// start at multiples of it. Otherwise it stays on the stack, and a note says why. With `across`,
// loads may also take one lane of each of several slots. Masks of register accesses become selects.
// Fails for an operand of an instruction that cannot be in registers.
Status place_arrays_in_registers(Function& function, const std::vector<bool>& wanted,
                                 bool across = false);

}  // namespace stria::semtree
