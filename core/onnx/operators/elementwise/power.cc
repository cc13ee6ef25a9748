// SPDX-License-Identifier: Apache-2.0
// Pow and Mod.
#include <fmt/format.h>

#include "stria/onnx/operators/elementwise/broadcast.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {

// The result is of the first input's type, whatever the exponent's is.
Status power(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string y, second_operand(node));
  const DataType base = node.type(0).type, exponent = node.type(1).type;
  if (base == exponent) return node.result(0, fmt::format("pow({}, {})", x, y));
  std::string all = node.let(fmt::format("pow({}, {})", x, y));
  if (is_integer(base) && is_float(exponent)) {
    // A power that is a whole number may come out a little below it, and would lose one.
    const std::string whole = node.let(fmt::format("round({})", all));
    all = node.let(fmt::format("abs({0} - {1}) <= 4.0e-6 * abs({1}) ? {1} : {0}", all, whole));
  }
  return node.result(0, stria::onnx::cast(all, base));
}

// Tile's remainder has the sign of the dividend, as fmod = 1 asks for.
Status modulo(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t fmod, node.integer_attribute("fmod", 0));
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  const DataType type = node.type(0).type;
  const std::string rest = node.let(fmt::format("{} % {}", a, b));
  if (fmod || is_unsigned_integer(type)) return node.result(0, rest);
  if (is_integer(type))
    return node.result(
        0, fmt::format("{0} != 0 && ({0} < 0) != ({1} < 0) ? {0} + {1} : {0}", rest, b));
  // A remainder of zero has the sign of the divisor.
  return node.result(0, fmt::format("{0} == 0.0 ? ({1} < 0.0 ? -abs({0}) : abs({0})) : "
                                    "({0} < 0.0) != ({1} < 0.0) ? {0} + {1} : {0}",
                                    rest, b));
}

}  // namespace stria::onnx::operators
