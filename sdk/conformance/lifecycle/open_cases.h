// SPDX-License-Identifier: Apache-2.0
// Cases of group E: opening devices, several at once too; asking for what is not there.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_open_cases(CaseMaker& maker);

}  // namespace stria::conformance
