// SPDX-License-Identifier: Apache-2.0
// A network of 8-bit integers of any length, for what passes cost by the number of kernels: blocks
// of a 3 x 3 and a 1 x 1 convolution with bias, requantisation and ReLU, a residual and a pooling.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stria/tile/bind/bind.h"

namespace stria::bench {

struct LayerNetwork {
  std::string text;  // Tile
  std::map<std::string, tile::TensorType> inputs;
};

// Six kernels each, on images of size x size x channels, with weights of their own.
LayerNetwork layers(int64_t blocks, int64_t size, int64_t channels);

}  // namespace stria::bench
