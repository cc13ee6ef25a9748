// SPDX-License-Identifier: Apache-2.0
// Cases of group E: what is left in the process when a driver has been shut down, and processes
// that end without that.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_end_cases(CaseMaker& maker);
void add_exit_cases(CaseMaker& maker);
void add_fork_cases(CaseMaker& maker);

}  // namespace stria::conformance
