// SPDX-License-Identifier: Apache-2.0
// The same numbers in another way: other settings of the device's pipeline, other options of the
// build, other programs that mean the same.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_relation_cases(CaseMaker& maker);

}  // namespace stria::conformance
