// SPDX-License-Identifier: Apache-2.0
// Cases of group N: drivers of hosts that offer fewer or more services, or say so in other structs.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_service_cases(CaseMaker& maker);

}  // namespace stria::conformance
