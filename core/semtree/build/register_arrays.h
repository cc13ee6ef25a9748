// SPDX-License-Identifier: Apache-2.0
// Decides which arrays of a function are held in registers, after unrolling has made subscripts
// constant.
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// `wanted[i]` says that function.arrays[i] is located in registers, or is a single element. Such an
// array gets `in_registers` if every access has a constant subscript, and all accesses have the
// same number of contiguous lanes and start at multiples of it. Otherwise it stays on the stack; if
// it was located in registers, a note says why. With `across`, loads may also take one lane of each
// of several slots. Masks of register accesses become selects. Fails for an operand of an
// instruction that cannot be in registers.
Status place_arrays_in_registers(Function& function, const std::vector<bool>& wanted,
                                 bool across = false);

}  // namespace stria::semtree
