// SPDX-License-Identifier: Apache-2.0
// What a model of one node computes, with inputs that stand in the model.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "evaluate_model.h"
#include "stria/base/result.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx {

// The elements as the file would have them: `values` may be patterns of another type.
template <typename T>
std::shared_ptr<const TensorData> initializer(std::string name, ElementType type,
                                              std::vector<int64_t> dims,
                                              const std::vector<T>& values) {
  auto bytes = std::make_shared<std::string>(reinterpret_cast<const char*>(values.data()),
                                             values.size() * sizeof(T));
  auto out = std::make_shared<TensorData>();
  out->name = std::move(name);
  out->type = type;
  out->dims = std::move(dims);
  out->bytes = *bytes;
  out->owner = bytes;
  return out;
}

template <typename T>
std::shared_ptr<const TensorData> vector_input(std::string name, ElementType type,
                                               const std::vector<T>& values) {
  return initializer(std::move(name), type, {static_cast<int64_t>(values.size())}, values);
}

inline Attribute integer(std::string name, int64_t value) {
  Attribute out;
  out.name = std::move(name);
  out.type = Attribute::Type::i;
  out.i = value;
  return out;
}

inline Attribute text(std::string name, std::string value) {
  Attribute out;
  out.name = std::move(name);
  out.type = Attribute::Type::s;
  out.s = std::move(value);
  return out;
}

// The first output.
inline Result<EvaluatedOutput> evaluate_node(
    std::string op_type, int64_t version, std::vector<Attribute> attributes,
    std::vector<std::shared_ptr<const TensorData>> inputs) {
  Model model;
  model.opsets[""] = version;
  Node node;
  node.op_type = std::move(op_type);
  node.attributes = std::move(attributes);
  for (const auto& input : inputs) node.inputs.push_back(input->name);
  node.outputs = {"Result"};
  model.graph.nodes = {node};
  model.graph.initializers = std::move(inputs);
  model.graph.outputs = {{"Result", {}}};
  STRIA_ASSIGN(std::vector<EvaluatedOutput> made, evaluate_model(model));
  return std::move(made[0]);
}

inline std::vector<double> numbers(const EvaluatedOutput& output) {
  std::vector<double> out;
  for (int64_t e = 0; e < output.elements->element_count(); ++e)
    out.push_back(load_scalar(output.elements->type(), output.elements->data(), e).to_double());
  return out;
}

template <typename T>
std::vector<T> elements(const EvaluatedOutput& output) {
  std::vector<T> out(static_cast<size_t>(output.elements->element_count()));
  std::memcpy(out.data(), output.elements->data(), out.size() * sizeof(T));
  return out;
}

}  // namespace stria::onnx
