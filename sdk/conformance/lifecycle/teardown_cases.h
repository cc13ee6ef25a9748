// SPDX-License-Identifier: Apache-2.0
// Cases of group E: objects given back in every order that is allowed.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_teardown_cases(CaseMaker& maker);

}  // namespace stria::conformance
