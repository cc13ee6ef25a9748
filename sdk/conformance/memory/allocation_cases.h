// SPDX-License-Identifier: Apache-2.0
// Group M: buffers of every size, none at all, more than there is, and by the names of memories.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_allocation_cases(CaseMaker& maker);

}  // namespace stria::conformance
