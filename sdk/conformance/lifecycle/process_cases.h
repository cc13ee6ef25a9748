// SPDX-License-Identifier: Apache-2.0
// Cases of group E: what is the process's and stays as it was, output, and unloading.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_process_cases(CaseMaker& maker);
void add_unload_cases(CaseMaker& maker);

}  // namespace stria::conformance
