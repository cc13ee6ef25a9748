// SPDX-License-Identifier: Apache-2.0
// Group Q: several executors of one device.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_executor_cases(CaseMaker& maker);

}  // namespace stria::conformance
