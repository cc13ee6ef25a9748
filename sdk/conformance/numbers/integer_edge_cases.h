// SPDX-License-Identifier: Apache-2.0
// The edges of integers through every function: wrapping, division by 0 and of the least number,
// shifts by the width and beyond.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_integer_edge_cases(CaseMaker& maker);

}  // namespace stria::conformance
