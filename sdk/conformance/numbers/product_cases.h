// SPDX-License-Identifier: Apache-2.0
// Products of matrices of many sizes, which fill tiles and scratchpads and leave rests at every
// border, and networks that are fused into few kernels.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_product_cases(CaseMaker& maker);

}  // namespace stria::conformance
