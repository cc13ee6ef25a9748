// SPDX-License-Identifier: Apache-2.0
// Group M: mappings of every mode, of parts at odd offsets, several at once, beside queued work.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_map_cases(CaseMaker& maker);

}  // namespace stria::conformance
