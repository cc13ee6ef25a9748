// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/tile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace stria::onnx {

std::string number(double value) {
  std::string text = fmt::format("{}", std::abs(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return std::signbit(value) ? "(-" + text + ")" : text;
}

std::string cast(const std::string& expression, DataType type) {
  if (type == DataType::boolean) return fmt::format("as_bool({})", expression);
  const char* const function = type == DataType::bf16    ? "as_bfloat"
                               : is_float(type)          ? "as_float"
                               : is_signed_integer(type) ? "as_int"
                                                         : "as_uint";
  return fmt::format("{}({}, {})", function, expression, 8 * byte_size(type));
}

std::string typed(double value, DataType type) { return cast(number(value), type); }

std::string reshaped(const std::string& expression, const std::vector<int64_t>& sizes) {
  if (sizes.empty()) return fmt::format("reshape({})", expression);
  return fmt::format("reshape({}, {})", expression, fmt::join(sizes, ", "));
}

}  // namespace stria::onnx
