// SPDX-License-Identifier: Apache-2.0
// Tensors of millions of elements: counts, indices and offsets that small ones never reach.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_large_cases(CaseMaker& maker);

}  // namespace stria::conformance
