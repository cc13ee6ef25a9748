// SPDX-License-Identifier: Apache-2.0
// Group V: what the checks around every slot have seen while the other cases ran.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_check_cases(CaseMaker& maker);

}  // namespace stria::conformance
