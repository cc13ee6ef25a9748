// SPDX-License-Identifier: Apache-2.0
// Group P: what the shared object says of itself, read without loading it.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_library_cases(CaseMaker& maker);

}  // namespace stria::conformance
