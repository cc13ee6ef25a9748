// SPDX-License-Identifier: Apache-2.0
// Group Q: work of each kind comes after what it waits for, and waits for nothing else.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_order_cases(CaseMaker& maker);

}  // namespace stria::conformance
