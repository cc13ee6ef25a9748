// SPDX-License-Identifier: Apache-2.0
// Generated programs, one for each seed.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_generated_cases(CaseMaker& maker);

}  // namespace stria::conformance
