// SPDX-License-Identifier: Apache-2.0
// From every type to every type, and copies that change nothing.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_conversion_cases(CaseMaker& maker);

}  // namespace stria::conformance
