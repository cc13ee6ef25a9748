// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/model.h"

#include <fmt/format.h>

#include <algorithm>

namespace stria::onnx {
namespace {

struct Element {
  const char* name;
  int bits;
};

// By number.
constexpr Element kElements[] = {
    {"undefined", 0},      {"float", 32},       {"uint8", 8},          {"int8", 8},
    {"uint16", 16},        {"int16", 16},       {"int32", 32},         {"int64", 64},
    {"string", 0},         {"bool", 8},         {"float16", 16},       {"double", 64},
    {"uint32", 32},        {"uint64", 64},      {"complex64", 64},     {"complex128", 128},
    {"bfloat16", 16},      {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},        {"int4", 4},           {"float4e2m1", 4},
    {"float8e8m0", 8},     {"uint2", 2},        {"int2", 2},           {"float6e2m3", 6},
    {"float6e3m2", 6},
};

const Element* element_of(ElementType type) {
  const auto number = static_cast<size_t>(type);
  return number < std::size(kElements) ? &kElements[number] : nullptr;
}

}  // namespace

std::string name_of(ElementType type) {
  const Element* const element = element_of(type);
  return element ? element->name : fmt::format("type {}", static_cast<int32_t>(type));
}

int bits_of(ElementType type) {
  const Element* const element = element_of(type);
  return element ? element->bits : 0;
}

int64_t TensorData::element_count() const {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

const Attribute* Node::find(std::string_view attribute) const {
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [&](const Attribute& each) { return each.name == attribute; });
  return at == attributes.end() ? nullptr : &*at;
}

std::string text_of(const Node& node) {
  if (!node.name.empty()) return fmt::format("{} '{}'", node.op_type, node.name);
  for (const std::string& output : node.outputs)
    if (!output.empty()) return fmt::format("{} that makes '{}'", node.op_type, output);
  return node.op_type;
}

std::map<std::string, int64_t> initializer_bytes(const Graph& graph) {
  std::map<std::string, int64_t> out;
  for (const auto& data : graph.initializers)
    out[data->name] = static_cast<int64_t>(data->bytes.size());
  for (const auto& data : graph.sparse_initializers)
    out[data->values.name] =
        static_cast<int64_t>(data->values.bytes.size() + data->indices.bytes.size());
  return out;
}

}  // namespace stria::onnx
