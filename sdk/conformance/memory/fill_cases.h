// SPDX-License-Identifier: Apache-2.0
// Group M: fills with patterns of each size at every offset; the bytes around them must stay.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_fill_cases(CaseMaker& maker);

}  // namespace stria::conformance
