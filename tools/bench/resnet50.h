// SPDX-License-Identifier: Apache-2.0
// A program of the shape of ResNet-50 (He et al., Deep residual learning for image recognition,
// 2015), with the strides of its usual variant in the 3x3 convolutions: 53 convolutions, each with
// its normalisation, 16 sums with what came before, two poolings, a product of matrices. As Tile
// text with the types of its inputs, so that compilers have something of a real network's size to
// chew on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stria/tile/bind/bind.h"

namespace stria::bench {

struct ResNet50 {
  std::string text;
  std::map<std::string, tile::TensorType> inputs;  // data `I` first, channels last; fp32
  int convolutions = 0;
};

struct ResNet50Options {
  int64_t batch = 1;
  // Normalisation as one bias, as it is after folding; else mean, variance, scale and shift.
  bool folded = true;
  // Blocks of each stage times this: 1 is the network, more is a longer one.
  int repeat = 1;
};

ResNet50 resnet50(const ResNet50Options& options = {});

}  // namespace stria::bench
