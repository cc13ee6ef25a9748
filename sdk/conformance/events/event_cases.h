// SPDX-License-Identifier: Apache-2.0
// Group Q: events.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_cases(CaseMaker& maker);

}  // namespace stria::conformance
