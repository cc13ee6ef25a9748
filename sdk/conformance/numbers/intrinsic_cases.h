// SPDX-License-Identifier: Apache-2.0
// Every elementwise function in every type it has, on a vector, on a number, on four dimensions and
// on operands that broadcast.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_intrinsic_cases(CaseMaker& maker);

}  // namespace stria::conformance
