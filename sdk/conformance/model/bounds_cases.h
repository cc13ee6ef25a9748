// SPDX-License-Identifier: Apache-2.0
// Group H: numbers of a hardware model that no machine has: sizes in bytes where KiB are meant,
// clocks in Hz where MHz are, models that say nothing.
#pragma once

#include <string>

#include "suite/all_cases.h"

namespace stria::conformance {

void add_bounds_cases(CaseMaker& maker, const std::string& kind);

}  // namespace stria::conformance
