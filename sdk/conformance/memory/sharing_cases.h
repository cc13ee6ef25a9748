// SPDX-License-Identifier: Apache-2.0
// Group M: memory that others made, and memory for others, where the plugin offers stria.sharing.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_sharing_cases(CaseMaker& maker);

}  // namespace stria::conformance
