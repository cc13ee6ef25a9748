// SPDX-License-Identifier: Apache-2.0
// Cases of group E: opening and closing devices, and what they make, many times; asking for what is
// not there.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_open_cases(CaseMaker& maker);

}  // namespace stria::conformance
