// SPDX-License-Identifier: Apache-2.0
// Group Q: callbacks of events: once, with the right error, at once where the event is done; and
// what they may do.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_callback_cases(CaseMaker& maker);

}  // namespace stria::conformance
