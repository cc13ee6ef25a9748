// SPDX-License-Identifier: Apache-2.0
// BitShift and BitwiseNot.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
Status bitwise_not(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  return node.result(0, "~" + x);
}

// Tile takes a count modulo the width. Here a count that is no digit's shifts everything out.
Status bit_shift(NodeWriter& node) {
  STRIA_ASSIGN(const std::string direction, node.string_attribute("direction", ""));
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error(fmt::format("direction '{}': LEFT or RIGHT", direction));
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string y, node.tensor(1));
  const DataType type = node.type(0).type;
  const int width = bit_width(type);
  const bool is_signed = is_signed_integer(type);
  const std::string negative = is_signed ? fmt::format("{} < 0 || ", y) : "";
  const std::string outside = node.let(fmt::format("{}{} >= {}", negative, y, width));
  if (direction == "RIGHT" && is_signed) {
    const std::string count = node.let(fmt::format("{} ? {} : {}", outside, width - 1, y));
    return node.result(0, fmt::format("{} >> {}", x, count));
  }
  return node.result(0, fmt::format("{} ? {} : {} {} {}", outside, typed(0, type), x,
                                    direction == "LEFT" ? "<<" : ">>", y));
}

}  // namespace stria::onnx::operators
