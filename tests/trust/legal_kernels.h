// SPDX-License-Identifier: Apache-2.0
// Kernels of a form that a pass looks for and that hardly comes by chance, in some programs: each
// with tensors of its own, its choices by the seed alone.
#pragma once

#include <cstdint>

#include "stria/stripe/block.h"

namespace stria::trust {

// Reads what lies across the lanes of what it writes.
void add_turned(stripe::Program& program, uint64_t seed);

// A private tensor that one kernel makes point by point, and a kernel or two that read it once.
void add_private(stripe::Program& program, uint64_t seed);

// Sums in lanes of which the last ones lie beyond the result, and perhaps beyond what is read.
void add_lane_sums(stripe::Program& program, uint64_t seed);

}  // namespace stria::trust
