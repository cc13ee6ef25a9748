// SPDX-License-Identifier: Apache-2.0
// Programs of the shapes of known networks, batch 1, fp32, as Tile text with the types of their
// inputs: as large as the real ones, for what looks at shapes and runs nothing.
#pragma once

#include <map>
#include <string>

#include "stria/tile/bind/bind.h"

namespace stria::passes {

struct Network {
  std::string text;
  std::map<std::string, tile::TensorType> inputs;
};

// Inverted residuals: Sandler et al., MobileNetV2, 2018; 224 x 224.
Network mobilenet_v2();
// Twelve encoder layers of 12 heads, hidden size 768: Devlin et al., BERT, 2018; 128 tokens.
Network bert_base();
// Four levels down and up, 64 to 1024 channels: Ronneberger et al., U-Net, 2015; 256 x 256, sizes
// kept by borders of zeros.
Network u_net();

}  // namespace stria::passes
