// SPDX-License-Identifier: Apache-2.0
// The 40 shapes for which regret is measured: 20 matrix products and 20 convolutions, of networks
// and of sizes that divide by nothing. Fixed before any tile was chosen for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/runtime/compile_options.h"

namespace stria::bench {

struct RegretShape {
  std::string name;       // "gemm 128x3072x768", "conv 14x14x256 3x3 256"
  std::string text;       // Tile
  InputTypes inputs;      // fp32
  std::string weights;    // the input that is constant, as in the layers of a network
  double operations = 0;  // a multiply-add is two
};

std::vector<RegretShape> regret_shapes();

}  // namespace stria::bench
