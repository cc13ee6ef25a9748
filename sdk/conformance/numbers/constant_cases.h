// SPDX-License-Identifier: Apache-2.0
// Programs with constants: what depends on them alone is a prologue, which runs once.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_constant_cases(CaseMaker& maker);

}  // namespace stria::conformance
