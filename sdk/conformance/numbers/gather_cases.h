// SPDX-License-Identifier: Apache-2.0
// Functions that are not elementwise: rows that integers choose, coordinates, random numbers.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_gather_cases(CaseMaker& maker);

}  // namespace stria::conformance
