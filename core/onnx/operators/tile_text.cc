// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/tile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace stria::onnx {

std::string number(double value) {
  if (!std::isfinite(value)) return literal(value);
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

Forms indices(std::string_view letter, size_t count) {
  Forms out;
  for (size_t d = 0; d < count; ++d) out.push_back(fmt::format("{}{}", letter, d));
  return out;
}

std::string access(std::string_view tensor, const Forms& forms) {
  return fmt::format("{}[{}]", tensor, fmt::join(forms, ", "));
}

std::string contract(NodeWriter& node, char aggregation, const Forms& forms, const Sizes& sizes,
                     const std::string& body, const Forms& constraints,
                     std::string_view otherwise) {
  std::string out = node.fresh();
  std::string line =
      fmt::format("{}[{}{}{}] = {}({})", out, fmt::join(forms, ", "), sizes.empty() ? "" : " : ",
                  fmt::join(sizes, ", "), aggregation, body);
  for (const std::string& constraint : constraints) line += ", " + constraint;
  if (!otherwise.empty()) line += fmt::format(" default {}", otherwise);
  node.line(line + ";");
  return out;
}

std::string reshaped(std::string_view tensor, const Sizes& sizes) {
  return sizes.empty() ? fmt::format("reshape({})", tensor)
                       : fmt::format("reshape({}, {})", tensor, fmt::join(sizes, ", "));
}

std::string literal(double value) {
  if (std::isnan(value)) return "(0.0 / 0.0)";
  if (std::isinf(value)) return value > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)";
  std::string out = fmt::format("{}", std::abs(value));
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return value < 0 ? "(-" + out + ")" : out;
}

std::string literal(double value, DataType type) {
  return is_float(type) ? literal(value) : fmt::format("{}", static_cast<int64_t>(value));
}

int64_t element_count(const Sizes& sizes) {
  int64_t out = 1;
  for (const int64_t size : sizes) out *= size;
  return out;
}

std::string affine(std::initializer_list<std::pair<int64_t, std::string>> terms, int64_t number) {
  std::string out;
  for (const auto& [factor, index] : terms) {
    if (factor == 0) continue;
    if (!out.empty()) out += " + ";
    out += factor == 1 ? index : fmt::format("{} * {}", factor, index);
  }
  if (out.empty()) return fmt::format("{}", number);
  if (number != 0) out += fmt::format(" {} {}", number < 0 ? '-' : '+', std::abs(number));
  return out;
}

DataType wide_type(DataType type) {
  return type == DataType::fp16 || type == DataType::bf16 ? DataType::fp32 : type;
}

std::string wide(const std::string& expression, DataType type) {
  return converted(expression, type, wide_type(type));
}

std::string converted(const std::string& expression, DataType from, DataType to) {
  return from == to ? expression : cast(expression, to);
}

std::string narrow(const std::string& expression, DataType type) {
  return converted(expression, wide_type(type), type);
}

std::string summed(const std::string& expression, DataType type) {
  if (is_float(type) || bit_width(type) >= 32) return expression;
  return converted(expression, DataType::i32, type);
}

Result<std::vector<bool>> axes_of(const NodeWriter& node, const std::vector<int64_t>& axes,
                                  int64_t rank) {
  std::vector<bool> out(static_cast<size_t>(rank), false);
  for (const int64_t written : axes) {
    STRIA_ASSIGN(const int64_t axis, node.axis(written, rank));
    if (out[static_cast<size_t>(axis)])
      return node.error(fmt::format("axis {} stands twice in its axes", axis));
    out[static_cast<size_t>(axis)] = true;
  }
  return out;
}

Reduced reduced(NodeWriter& node, char aggregation, const std::string& body, const Sizes& sizes,
                const std::vector<bool>& axes, std::string_view otherwise) {
  Forms forms = indices("i", sizes.size());
  Reduced out;
  out.sizes = sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (axes[d]) {
      forms[d] = "0";
      out.sizes[d] = 1;
    }
  out.kept = contract(node, aggregation, forms, out.sizes, body, {}, otherwise);
  return out;
}

}  // namespace stria::onnx
