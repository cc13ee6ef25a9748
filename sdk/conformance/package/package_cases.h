// SPDX-License-Identifier: Apache-2.0
// Group P: what lies in the plugin's directory. Nothing of it is loaded.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_package_cases(CaseMaker& maker);

}  // namespace stria::conformance
