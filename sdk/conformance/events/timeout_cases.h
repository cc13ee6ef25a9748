// SPDX-License-Identifier: Apache-2.0
// Group Q: waits with every timeout: none, short, absurdly long, for ever; and seeing an end
// without any wait.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_timeout_cases(CaseMaker& maker);

}  // namespace stria::conformance
