// SPDX-License-Identifier: Apache-2.0
// Group N: versions, sizes of structs and tables, slots that are missing.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_negotiation_cases(CaseMaker& maker);

}  // namespace stria::conformance
