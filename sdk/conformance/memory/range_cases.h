// SPDX-License-Identifier: Apache-2.0
// Ranges that no buffer has.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_range_cases(CaseMaker& maker);

}  // namespace stria::conformance
