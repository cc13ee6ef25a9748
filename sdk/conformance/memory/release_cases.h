// SPDX-License-Identifier: Apache-2.0
// Group M: handles that are given back while their work is still to come, and inputs that stay.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_memory_release_cases(CaseMaker& maker);

}  // namespace stria::conformance
