// SPDX-License-Identifier: Apache-2.0
// Group K: every operation and type against the interpreter, and generated programs.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_number_cases(CaseMaker& maker);

}  // namespace stria::conformance
