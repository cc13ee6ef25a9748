// SPDX-License-Identifier: Apache-2.0
// Cases of group N: hosts that speak other versions of the boundary and of Stripe text.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_version_cases(CaseMaker& maker);

}  // namespace stria::conformance
