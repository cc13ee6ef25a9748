// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <fmt/format.h>

#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/small_float.h"

namespace stria::onnx::operators {
namespace {

Result<Granularity> granularity_of(NodeWriter& node) {
  Granularity out;
  if (!node.has(0)) return node.error("input 0 is missing");
  out.sizes = node.type(0).sizes;
  STRIA_ASSIGN(out.axis, node.integer_attribute("axis", 1));
  STRIA_ASSIGN(out.block_size, node.integer_attribute("block_size", 0));
  return out;
}

bool is_small_float(ElementType type) {
  return small_float_of(type) || type == ElementType::fp8e8m0;
}

}  // namespace

Status quantize_linear(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Granularity granularity, granularity_of(node));
  STRIA_ASSIGN(const std::string scale, spread(node, 1, granularity));
  STRIA_ASSIGN(const int64_t saturate, node.integer_attribute("saturate", 1));
  STRIA_ASSIGN(ElementType type, type_attribute(node, "output_dtype", ElementType::u8));
  std::string zero_point;
  if (node.has(2)) {
    type = node.element(2);
    STRIA_ASSIGN(zero_point, spread(node, 2, granularity));
  }
  STRIA_ASSIGN(const ElementType precision, type_attribute(node, "precision", node.element(1)));
  const std::optional<DataType> held = tile_type_of(type), real = tile_type_of(precision);
  if (!held || !real || !is_float(*real) || (is_float(*held) && !is_small_float(type)))
    return node.not_supported(fmt::format("{} by way of {}", name_of(type), name_of(precision)));
  const std::string from = node.let(stria::onnx::cast(x, *real));
  const std::string by = node.let(stria::onnx::cast(scale, *real));
  if (*real == DataType::fp32 && !is_float(*held) && bits_of(type) <= 8)
    return node.result(0, saturated(node, rounded_quotient(node, from, by), zero_point, type),
                       type);
  // The quotient is rounded to the type of the division before it becomes a whole number.
  const std::string quotient = node.let(stria::onnx::cast(fmt::format("{} / {}", from, by), *real));
  if (!is_float(*held))
    return node.result(0, saturated(node, fmt::format("round({})", quotient), zero_point, type),
                       type);
  const std::string moved =
      zero_point.empty() ? quotient : node.let(fmt::format("{} + {}", quotient, zero_point));
  CastRules rules;
  rules.saturate = saturate != 0;
  STRIA_ASSIGN(const std::string y, converted(node, moved, element_type_of(*real), type, rules));
  return node.result(0, y, type);
}

Status dequantize_linear(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Granularity granularity, granularity_of(node));
  STRIA_ASSIGN(const std::string scale, spread(node, 1, granularity));
  STRIA_ASSIGN(const ElementType type, type_attribute(node, "output_dtype", node.element(1)));
  const std::optional<DataType> real = tile_type_of(type);
  if (!real || !is_float(*real) || is_small_float(type))
    return node.not_supported(fmt::format("numbers of type {}", name_of(type)));
  std::string moved = x;
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string zero_point, spread(node, 2, granularity));
    if (is_float(node.type(0).type)) {
      moved = node.let(fmt::format("{} - {}", x, zero_point));
    } else {
      STRIA_ASSIGN(moved, centered(node, 0, zero_point));
    }
  }
  const DataType wide = *real == DataType::fp64 ? DataType::fp64 : DataType::fp32;
  return node.result(0,
                     stria::onnx::cast(fmt::format("{} * {}", stria::onnx::cast(moved, wide),
                                                   stria::onnx::cast(scale, wide)),
                                       *real),
                     type);
}

Status dynamic_quantize_linear(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const DynamicRange range, dynamic_range(node, x, node.type(0).sizes));
  STRIA_RETURN_IF_ERROR(node.result(0, saturated(node, rounded_quotient(node, x, range.scale),
                                                 range.zero_point, ElementType::u8)));
  STRIA_RETURN_IF_ERROR(node.result(1, range.scale));
  return node.result(2, range.zero_point);
}

}  // namespace stria::onnx::operators
