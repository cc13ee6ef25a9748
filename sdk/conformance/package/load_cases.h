// SPDX-License-Identifier: Apache-2.0
// Group P: what loading the shared object does to its process.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_load_cases(CaseMaker& maker);

}  // namespace stria::conformance
