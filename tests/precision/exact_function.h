// SPDX-License-Identifier: Apache-2.0
// What the builtins are as functions of real numbers, to more digits than fp64 has: 113 bits for
// arithmetic and roots, those of the C library's long double functions for the others (64 bits on
// x86, off by a few units of the 2048th part of an ULP of fp64). None of it is the code under test.
#pragma once

#include <string_view>

#include "float_format.h"

namespace stria::precision {

using ExactFunction = Exact (*)(const Exact* operands);

// Of a builtin on floats that is no cast; truths are 0 and 1. Null if there is none.
ExactFunction exact_function(std::string_view builtin);

// A cast to `type`: as a float type the number itself (rounding is the device's), as an integer
// truncated and saturated with NaN giving 0, as bool whether it is not 0.
Exact exact_cast(DataType type, Exact x);

}  // namespace stria::precision
