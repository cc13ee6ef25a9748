// SPDX-License-Identifier: Apache-2.0
// Cases of group N: what a plugin says of itself, and hosts of other builds.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_identity_cases(CaseMaker& maker);

}  // namespace stria::conformance
