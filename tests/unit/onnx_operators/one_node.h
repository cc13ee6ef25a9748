// SPDX-License-Identifier: Apache-2.0
// A model of one node, whose inputs are bound by value, or not: what it computes, or why it does
// not.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evaluate_model.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/translate.h"
#include "stria/type/scalar.h"

namespace stria::onnx {

class OneNode {
 public:
  OneNode(std::string op_type, int64_t version, std::string domain = "") {
    model_.file = "test.onnx";
    model_.opsets[domain] = version;
    node_.op_type = std::move(op_type);
    node_.domain = std::move(domain);
  }
  // The next input; elements of any type, row-major.
  OneNode& input(std::vector<int64_t> sizes, const std::vector<double>& elements,
                 DataType type = DataType::fp32) {
    const std::string name = "x" + std::to_string(node_.inputs.size());
    auto tensor = std::make_shared<HostTensor>(*HostTensor::create(type, sizes, name));
    for (size_t e = 0; e < elements.size(); ++e)
      store_scalar(type, tensor->data(), static_cast<int64_t>(e),
                   Scalar::of_float(DataType::fp64, elements[e]));
    ValueInfo info{name, {ValueType::Kind::tensor, element_type_of(type), {}, nullptr}};
    info.type.dims.emplace();
    for (const int64_t size : sizes) info.type.dims->push_back({size, ""});
    model_.graph.inputs.push_back(info);
    tensors_[name] = std::move(tensor);
    node_.inputs.push_back(name);
    return *this;
  }
  // Strings, which are always known.
  OneNode& input_strings(std::vector<std::string> strings) {
    const std::string name = "x" + std::to_string(node_.inputs.size());
    model_.graph.inputs.push_back(
        {name, {ValueType::Kind::tensor, ElementType::string, {}, nullptr}});
    KnownValue value;
    value.kind = Value::Kind::strings;
    value.sizes = {static_cast<int64_t>(strings.size())};
    value.strings = std::move(strings);
    options_.values[name] = std::move(value);
    node_.inputs.push_back(name);
    return *this;
  }
  // Nothing is known of the elements of its inputs before it runs.
  OneNode& when_run() {
    when_run_ = true;
    return *this;
  }
  // An optional input that is not given.
  OneNode& no_input() {
    node_.inputs.emplace_back();
    return *this;
  }
  OneNode& set(const std::string& name, int64_t value) {
    attribute(name, Attribute::Type::i).i = value;
    return *this;
  }
  OneNode& set_list(const std::string& name, std::vector<int64_t> values) {
    attribute(name, Attribute::Type::ints).ints = std::move(values);
    return *this;
  }
  OneNode& set_float(const std::string& name, float value) {
    attribute(name, Attribute::Type::f).f = value;
    return *this;
  }
  OneNode& set_floats(const std::string& name, std::vector<float> values) {
    attribute(name, Attribute::Type::floats).floats = std::move(values);
    return *this;
  }
  OneNode& set_strings(const std::string& name, std::vector<std::string> values) {
    attribute(name, Attribute::Type::strings).strings = std::move(values);
    return *this;
  }
  OneNode& set_tensor(const std::string& name, DataType type, const std::vector<double>& values) {
    auto bytes = std::make_shared<std::string>(values.size() * byte_size(type), '\0');
    for (size_t e = 0; e < values.size(); ++e)
      store_scalar(type, bytes->data(), static_cast<int64_t>(e),
                   Scalar::of_float(DataType::fp64, values[e]));
    auto tensor = std::make_shared<TensorData>();
    tensor->type = element_type_of(type);
    tensor->dims = {static_cast<int64_t>(values.size())};
    tensor->bytes = *bytes;
    tensor->owner = bytes;
    attribute(name, Attribute::Type::t).t = std::move(tensor);
    return *this;
  }
  OneNode& set(const std::string& name, const char* value) {
    attribute(name, Attribute::Type::s).s = value;
    return *this;
  }

  // The elements of the first `count` outputs, one behind another.
  Result<std::vector<double>> run(int count = 1) {
    for (int k = 0; k < count; ++k) {
      const std::string name = "y" + std::to_string(k);
      node_.outputs.push_back(name);
      model_.graph.outputs.push_back({name, {}});
    }
    model_.graph.nodes = {node_};
    if (!when_run_)
      for (const auto& [name, tensor] : tensors_) options_.values[name] = KnownValue(tensor);
    STRIA_ASSIGN(outputs_, evaluate_model(model_, options_, when_run_ ? tensors_ : GivenTensors()));
    std::vector<double> out;
    for (const EvaluatedOutput& output : outputs_) {
      sizes_ = output.elements->sizes();
      for (int64_t e = 0; e < output.elements->element_count(); ++e)
        out.push_back(load_scalar(output.elements->type(), output.elements->data(), e).to_double());
    }
    return out;
  }
  // The sizes of the last output of run().
  const std::vector<int64_t>& sizes() const { return sizes_; }
  // All outputs of run().
  const std::vector<EvaluatedOutput>& outputs() const { return outputs_; }
  // What run() gave, numbers of texts, as these texts.
  std::vector<std::string> texts_of(const std::vector<double>& numbers) const {
    std::vector<std::string> out;
    for (const double number : numbers)
      out.push_back(outputs_[0].texts.at(static_cast<size_t>(number)));
    return out;
  }
  // Why it cannot be translated.
  std::string failure() {
    const auto out = run();
    return out.ok() ? "it was translated" : out.status().to_string();
  }

 private:
  Attribute& attribute(const std::string& name, Attribute::Type type) {
    node_.attributes.emplace_back();
    node_.attributes.back().name = name;
    node_.attributes.back().type = type;
    return node_.attributes.back();
  }
  Model model_;
  Node node_;
  TranslateOptions options_;
  std::vector<int64_t> sizes_;
  GivenTensors tensors_;
  bool when_run_ = false;
  std::vector<EvaluatedOutput> outputs_;
};

// The elements of run(), within what fp32 leaves of them; NaN is equal to NaN.
inline void expect_near(const Result<std::vector<double>>& got, const std::vector<double>& wanted,
                        double within = 2e-5) {
  ASSERT_TRUE(got.ok()) << got.status().message();
  ASSERT_EQ(got->size(), wanted.size());
  for (size_t e = 0; e < wanted.size(); ++e)
    if (std::isnan(wanted[e]))
      EXPECT_TRUE(std::isnan((*got)[e])) << e;
    else if (std::isinf(wanted[e]))
      EXPECT_EQ((*got)[e], wanted[e]) << e;
    else
      EXPECT_NEAR((*got)[e], wanted[e], within) << e;
}

}  // namespace stria::onnx
