// SPDX-License-Identifier: Apache-2.0
// Sizes around vectors and tiles, ranks from 0 to 4, and every way to step through a tensor:
// transposed, reversed, in strides, repeated, in pieces.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_layout_cases(CaseMaker& maker);

}  // namespace stria::conformance
