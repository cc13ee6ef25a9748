// SPDX-License-Identifier: Apache-2.0
// Products on systolic arrays, as programs: a Tile text, a model with an array, and the pipeline
// that maps it. What the operations on the array take together is published.
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "validate/validation.h"

namespace stria::sim {

Result<std::vector<ValidationCase>> systolic_cases(const MapProgram& map);

}  // namespace stria::sim
