// SPDX-License-Identifier: Apache-2.0
// Group Q: executor.flush and executor.drain: what they wait for, and what not.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_drain_cases(CaseMaker& maker);

}  // namespace stria::conformance
