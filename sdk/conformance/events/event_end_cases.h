// SPDX-License-Identifier: Apache-2.0
// Group Q: event.end: done when another event is, and well whatever became of it.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_end_cases(CaseMaker& maker);

}  // namespace stria::conformance
