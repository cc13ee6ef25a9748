// SPDX-License-Identifier: Apache-2.0
// Group M: copies of every size and offset, with bytes around them that must stay.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_copy_cases(CaseMaker& maker);

}  // namespace stria::conformance
