// SPDX-License-Identifier: Apache-2.0
// Group Q: failures that travel along the events with their first cause; what they leave undone.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_failure_cases(CaseMaker& maker);

}  // namespace stria::conformance
