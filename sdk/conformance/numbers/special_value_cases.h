// SPDX-License-Identifier: Apache-2.0
// NaN, infinities, zeros, subnormal and largest numbers through every function of floats and every
// aggregation.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_special_value_cases(CaseMaker& maker);

}  // namespace stria::conformance
