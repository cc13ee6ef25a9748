// SPDX-License-Identifier: Apache-2.0
// Group X: building, bad input, the same code twice, kernels and their arguments.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_executable_cases(CaseMaker& maker);

}  // namespace stria::conformance
