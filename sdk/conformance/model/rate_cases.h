// SPDX-License-Identifier: Apache-2.0
// Group H, level 4: what the device does in a second against what its model says.
#pragma once

#include <string>

#include "suite/all_cases.h"

namespace stria::conformance {

void add_rate_cases(CaseMaker& maker, const std::string& kind);

}  // namespace stria::conformance
