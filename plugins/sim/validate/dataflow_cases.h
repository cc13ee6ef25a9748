// SPDX-License-Identifier: Apache-2.0
// What moves for a product on a systolic array, by dataflow (C7): a program on a machine, counted
// as any program is.
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "validate/validation.h"

namespace stria::sim {

Result<std::vector<ValidationCase>> dataflow_cases();

}  // namespace stria::sim
