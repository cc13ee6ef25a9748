// SPDX-License-Identifier: Apache-2.0
// Constant: a tensor that stands in the node itself.
#include <cstring>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

template <typename T>
Status list(NodeWriter& node, const std::vector<T>& values, std::vector<int64_t> sizes) {
  STRIA_ASSIGN(HostTensor out,
               HostTensor::create(stria::data_type_of<T>(), std::move(sizes), "value"));
  if (!values.empty()) std::memcpy(out.data(), values.data(), values.size() * sizeof(T));
  return node.result_known(0, std::move(out));
}

Status strings(NodeWriter& node, std::vector<std::string> values, std::vector<int64_t> sizes) {
  auto value = std::make_shared<Value>();
  value->kind = Value::Kind::strings;
  value->name = node.node().outputs[0];
  value->type.sizes = std::move(sizes);
  value->strings = std::move(values);
  return node.result_value(0, value);
}

}  // namespace

Status constant(NodeWriter& node) {
  for (const Attribute& attribute : node.node().attributes) {
    const auto count = [](const auto& of) {
      return std::vector<int64_t>{static_cast<int64_t>(of.size())};
    };
    if (attribute.name == "value" && attribute.t) {
      if (attribute.t->type == ElementType::string)
        return strings(node, attribute.t->strings, attribute.t->dims);
      auto elements = host_tensor_of(*attribute.t);
      if (!elements.ok()) return elements.status().with_context(text_of(node.node()));
      return node.result_known(0, std::move(*elements), attribute.t->type);
    }
    if (attribute.name == "sparse_value" && attribute.sparse) {
      auto elements = host_tensor_of(*attribute.sparse);
      if (!elements.ok()) return elements.status().with_context(text_of(node.node()));
      return node.result_known(0, std::move(*elements), attribute.sparse->values.type);
    }
    if (attribute.name == "value_float") return list<float>(node, {attribute.f}, {});
    if (attribute.name == "value_int") return list<int64_t>(node, {attribute.i}, {});
    if (attribute.name == "value_floats")
      return list(node, attribute.floats, count(attribute.floats));
    if (attribute.name == "value_ints") return list(node, attribute.ints, count(attribute.ints));
    if (attribute.name == "value_string") return strings(node, {attribute.s}, {});
    if (attribute.name == "value_strings")
      return strings(node, attribute.strings, count(attribute.strings));
  }
  return node.error("it has no value");
}

Status identity(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  return node.result_value(0, node.value(0));
}

}  // namespace stria::onnx::operators
