// SPDX-License-Identifier: Apache-2.0
// Group H: the hardware model and the pipeline of each kind of device.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_model_cases(CaseMaker& maker);

}  // namespace stria::conformance
