// SPDX-License-Identifier: Apache-2.0
// Contractions whose indices do not fill a box: constraints, borders, strides and dilations that
// overhang, outputs that are written in part, indices of the block around.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_constraint_cases(CaseMaker& maker);

}  // namespace stria::conformance
