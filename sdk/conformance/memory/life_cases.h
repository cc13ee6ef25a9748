// SPDX-License-Identifier: Apache-2.0
// Group M: buffers that live at the same time, come and go, and are reached in random ways.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_life_cases(CaseMaker& maker);

}  // namespace stria::conformance
