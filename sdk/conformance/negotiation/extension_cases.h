// SPDX-License-Identifier: Apache-2.0
// Cases of group N: optional tables by name.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_extension_cases(CaseMaker& maker);

}  // namespace stria::conformance
