// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike: numbers as another type. Strings are numbers only where they are known.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "stria/onnx/operators/types/conversion.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

Status from_strings(NodeWriter& node, const Value& strings, ElementType to) {
  const std::optional<DataType> type = tile_type_of(to);
  if (!type || element_type_of(*type) != to)
    return node.not_supported(fmt::format("a cast of strings to {}", name_of(to)));
  STRIA_ASSIGN(HostTensor out, HostTensor::create(*type, strings.type.sizes, "cast"));
  for (size_t e = 0; e < strings.strings.size(); ++e) {
    const std::string& text = strings.strings[e];
    char* end = nullptr;
    Scalar value;
    if (is_float(*type)) {
      value = Scalar::of_float(DataType::fp64, std::strtod(text.c_str(), &end));
    } else {
      const int64_t number = is_unsigned_integer(*type)
                                 ? static_cast<int64_t>(std::strtoull(text.c_str(), &end, 10))
                                 : std::strtoll(text.c_str(), &end, 10);
      value = Scalar::of_int(DataType::i64, number);
    }
    if (text.empty() || *end)
      return node.error(fmt::format("'{}' is no number of type {}", text, name_of(to)));
    store_scalar(*type, out.data(), static_cast<int64_t>(e), value);
  }
  return node.result_known(0, std::move(out));
}

Status to_strings(NodeWriter& node) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> known, node.known(0));
  auto value = std::make_shared<Value>();
  value->kind = Value::Kind::strings;
  value->name = node.node().outputs[0];
  value->type.sizes = known->sizes();
  for (int64_t e = 0; e < known->element_count(); ++e) {
    const Scalar element = load_scalar(known->type(), known->data(), e);
    if (is_float(known->type()) && std::isnan(element.f))
      value->strings.emplace_back("NaN");
    else if (is_float(known->type()) && std::isinf(element.f))
      value->strings.emplace_back(element.f > 0 ? "INF" : "-INF");
    else
      value->strings.push_back(to_string(element));
  }
  return node.result_value(0, value);
}

Status cast_to(NodeWriter& node, ElementType to) {
  CastRules rules;
  STRIA_ASSIGN(const int64_t saturate, node.integer_attribute("saturate", 1));
  rules.saturate = saturate != 0;
  STRIA_ASSIGN(rules.round_mode, node.string_attribute("round_mode", "up"));
  if (rules.round_mode != "up" && rules.round_mode != "down" && rules.round_mode != "nearest")
    return node.error(fmt::format("round_mode '{}': up, down or nearest", rules.round_mode));
  if (!node.has(0)) return node.error("input 0 is missing");
  if (node.value(0)->kind == Value::Kind::strings) {
    if (to == ElementType::string) return node.result_value(0, node.value(0));
    return from_strings(node, *node.value(0), to);
  }
  if (node.value(0)->kind == Value::Kind::chosen && to == ElementType::string)
    return node.result_value(0, node.value(0));
  if (to == ElementType::string) return to_strings(node);
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  if (node.element(0) == to) return node.result_value(0, node.value(0));
  STRIA_ASSIGN(const std::string y, converted(node, x, node.element(0), to, rules));
  return node.result(0, y, to);
}

// What opset 1 has: "FLOAT", "INT32", … as a string.
Result<ElementType> named_type(NodeWriter& node) {
  static constexpr std::pair<std::string_view, ElementType> kNames[] = {
      {"FLOAT", ElementType::fp32},  {"UINT8", ElementType::u8},     {"INT8", ElementType::i8},
      {"UINT16", ElementType::u16},  {"INT16", ElementType::i16},    {"INT32", ElementType::i32},
      {"INT64", ElementType::i64},   {"BOOL", ElementType::boolean}, {"FLOAT16", ElementType::fp16},
      {"DOUBLE", ElementType::fp64}, {"UINT32", ElementType::u32},   {"UINT64", ElementType::u64},
  };
  STRIA_ASSIGN(const std::string written, node.string_attribute("to", ""));
  for (const auto& [name, type] : kNames)
    if (name == written) return type;
  return node.error(fmt::format("attribute 'to' is '{}', which is no type", written));
}

}  // namespace

Status cast(NodeWriter& node) {
  ElementType to;
  if (node.version() < 6) {
    STRIA_ASSIGN(to, named_type(node));
  } else {
    STRIA_ASSIGN(to, type_attribute(node, "to", ElementType::undefined));
  }
  if (to == ElementType::undefined) return node.error("attribute 'to' is missing");
  return cast_to(node, to);
}

Status cast_like(NodeWriter& node) {
  if (!node.has(1)) return node.error("input 1 is missing");
  const bool strings = node.value(1)->kind == Value::Kind::strings;
  return cast_to(node, strings ? ElementType::string : node.element(1));
}

}  // namespace stria::onnx::operators
