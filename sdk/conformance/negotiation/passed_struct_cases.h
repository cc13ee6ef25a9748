// SPDX-License-Identifier: Apache-2.0
// Cases of group N: structs, lists and texts that slots of an open device get: longer ones, shorter
// ones, with extension structs behind them, and gone when the call is over.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_passed_struct_cases(CaseMaker& maker);

}  // namespace stria::conformance
