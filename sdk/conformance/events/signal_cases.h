// SPDX-License-Identifier: Apache-2.0
// Group Q: events that the host ends, and those that it releases without an end.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_signal_cases(CaseMaker& maker);

}  // namespace stria::conformance
