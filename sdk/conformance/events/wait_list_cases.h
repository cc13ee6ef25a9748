// SPDX-License-Identifier: Apache-2.0
// Group Q: lists of events to wait for, of every length and state.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_wait_list_cases(CaseMaker& maker);

}  // namespace stria::conformance
