// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/image/roi_pixels.h"

#include <fmt/format.h>

namespace stria::onnx {

std::string roi_pixels(NodeWriter& node, const std::string& x, const std::string& batch,
                       const std::string& rows, const std::string& columns, const Sizes& sizes) {
  const Sizes& of_x = node.type(0).sizes;
  const Sizes& s = sizes;
  const std::string image = transposed(node, x, {0, 2, 3, 1}, of_x);
  const int64_t pixels = of_x[2] * of_x[3];
  const std::string line = node.let(reshaped(image, {of_x[0] * pixels, of_x[1]}));
  const std::string place = node.let(fmt::format(
      "{} * {} + {} * {} + {}", reshaped("as_int(" + batch + ", 64)", {s[0], 1, 1, 1, 1}), pixels,
      reshaped(rows, {s[0], s[1], 1, s[3], 1}), of_x[3],
      reshaped(columns, {s[0], 1, s[2], 1, s[4]})));
  return node.let(fmt::format("gather({}, {})", line, place));
}

}  // namespace stria::onnx
