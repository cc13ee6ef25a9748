// SPDX-License-Identifier: Apache-2.0
// Group M: buffers of more than 4 GiB.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_far_offset_cases(CaseMaker& maker);

}  // namespace stria::conformance
