// SPDX-License-Identifier: Apache-2.0
// Cases of group E: several drivers of one plugin in a process, each of a host of its own.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_driver_cases(CaseMaker& maker);

}  // namespace stria::conformance
