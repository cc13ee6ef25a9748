// SPDX-License-Identifier: Apache-2.0
// Group M: mappings among queued work: what they wait for, what they do not wait for, ranges that
// are mapped again, mappings that fail.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_map_order_cases(CaseMaker& maker);

}  // namespace stria::conformance
