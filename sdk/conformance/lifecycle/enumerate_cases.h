// SPDX-License-Identifier: Apache-2.0
// Cases of group E: listing devices, again and again, and what is said of each.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_enumerate_cases(CaseMaker& maker);
void add_device_info_cases(CaseMaker& maker);

}  // namespace stria::conformance
