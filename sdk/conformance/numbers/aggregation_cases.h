// SPDX-License-Identifier: Apache-2.0
// Every aggregation of every combination in every type.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_aggregation_cases(CaseMaker& maker);

}  // namespace stria::conformance
