// SPDX-License-Identifier: Apache-2.0
// Builds: when they begin and end, how they fail, what they keep of what they were given.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_build_cases(CaseMaker& maker);

}  // namespace stria::conformance
