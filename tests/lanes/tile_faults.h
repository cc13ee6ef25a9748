// SPDX-License-Identifier: Apache-2.0
// Device programs made wrong in one place, as by a pass that counts its tiles wrongly: tiles that
// overlap, tiles with a gap between them, one tile less.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::lanes {

struct TileFault {
  std::string what;  // "block 'kernel_0': g of 64*g in 'R' is one less"
  stripe::Program program;
};

// Each place where an index decides which elements of a tensor of #main a kernel writes: its factor
// in the access one more and one less, and its range one less. Not where a constraint clips the
// index: such a change may change nothing.
std::vector<TileFault> tile_faults(const stripe::Program& device);

}  // namespace stria::lanes
