// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

struct LayerNorm {
  std::string y;  // an expression
  std::string mean;
  std::string inverse_deviation;
};
// x normalized over `axis` and all behind it. `scale` and `bias` may be "".
LayerNorm layer_norm(NodeWriter& node, const std::string& x, const Sizes& sizes, int64_t axis,
                     const std::string& scale, const std::string& bias, double epsilon);

struct RmsNorm {
  std::string y;  // an expression
  std::string inverse_deviation;
};
// The same by the mean square, without a mean.
RmsNorm rms_norm(NodeWriter& node, const std::string& x, const Sizes& sizes, int64_t axis,
                 const std::string& scale, double epsilon);

}  // namespace stria::onnx
