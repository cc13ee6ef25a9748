// SPDX-License-Identifier: Apache-2.0
// Group M: buffers.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_cases(CaseMaker& maker);

}  // namespace stria::conformance
