// SPDX-License-Identifier: Apache-2.0
// Cases of group N: the tables that a plugin gives, before any of their slots is called.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_table_cases(CaseMaker& maker);

}  // namespace stria::conformance
