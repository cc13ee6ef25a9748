// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "stria/onnx/operators/attention/products.h"

namespace stria::onnx {

// How pairs of elements of a head are turned by the angle of their position.
struct Rotation {
  std::string cosines, sines;  // [batch, length, half]
  int64_t half = 0;            // pairs; elements behind them stay
  bool interleaved = false;    // a pair are neighbours; else halves of what is turned
};
// The heads of a batch, turned: a tensor of the same order.
std::string rotated(NodeWriter& node, const Heads& x, int64_t batch, const Rotation& by);

}  // namespace stria::onnx
