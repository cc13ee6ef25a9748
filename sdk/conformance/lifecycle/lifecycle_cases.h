// SPDX-License-Identifier: Apache-2.0
// Group E: listing, opening and ending, many times, in any order, in two hosts.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_lifecycle_cases(CaseMaker& maker);

}  // namespace stria::conformance
