// SPDX-License-Identifier: Apache-2.0
// Memories of rows and on-chip networks: transfers on machines, by pattern (C5, C6).
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "validate/validation.h"

namespace stria::sim {

Result<std::vector<ValidationCase>> memory_cases();

}  // namespace stria::sim
