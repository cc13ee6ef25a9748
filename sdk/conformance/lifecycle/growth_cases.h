// SPDX-License-Identifier: Apache-2.0
// Cases of group E: making, working, failing and giving back, many times.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_growth_cases(CaseMaker& maker);

}  // namespace stria::conformance
