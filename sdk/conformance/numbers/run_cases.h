// SPDX-License-Identifier: Apache-2.0
// Programs that run again and again, beside each other, with other tensors and other constants, as
// applications run them.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_run_cases(CaseMaker& maker);

}  // namespace stria::conformance
