// SPDX-License-Identifier: Apache-2.0
// Group Q: what events of each kind say of themselves while they are open, done, and failed.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_state_cases(CaseMaker& maker);

}  // namespace stria::conformance
