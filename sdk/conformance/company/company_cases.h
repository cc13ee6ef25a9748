// SPDX-License-Identifier: Apache-2.0
// Group C: beside other plugins, in either order, and beside itself.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_company_cases(CaseMaker& maker);

// Its parts.
void add_neighbour_cases(CaseMaker& maker);
void add_own_copy_cases(CaseMaker& maker);
void add_library_company_cases(CaseMaker& maker);
void add_place_cases(CaseMaker& maker);

}  // namespace stria::conformance
