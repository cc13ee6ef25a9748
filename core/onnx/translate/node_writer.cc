// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/node_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "stria/base/status.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx {

NodeWriter::NodeWriter(GraphTranslator& graph, const Node& node, int64_t version,
                       std::vector<ValuePtr> inputs)
    : graph_(graph), node_(node), version_(version), inputs_(std::move(inputs)) {}

bool NodeWriter::has(int i) const {
  return i < input_count() && inputs_[static_cast<size_t>(i)] != nullptr &&
         inputs_[static_cast<size_t>(i)]->kind != Value::Kind::absent;
}

ElementType NodeWriter::element(int i) const { return element_of(*value(i)); }

const ValuePtr& NodeWriter::value(int i) const { return inputs_[static_cast<size_t>(i)]; }

namespace {

Status no_tensor(const NodeWriter& node, int i) {
  const Value& value = *node.value(i);
  const bool is_text = value.kind == Value::Kind::strings || value.kind == Value::Kind::chosen;
  const bool is_map = value.kind == Value::Kind::map;
  return node.error(fmt::format(
      "input {} ('{}') is no tensor of numbers{}", i, value.name,
      is_text  ? " but text"
      : is_map ? " but a map: export the model without ZipMap (in skl2onnx by the option 'zipmap': "
                 "False)"
               : ""));
}

}  // namespace

Result<std::string> NodeWriter::tensor(int i) {
  if (!has(i)) return error(fmt::format("input {} is missing", i));
  const ValuePtr& of = value(i);
  if (of->kind != Value::Kind::tensor) return no_tensor(*this, i);
  return parameter(of);
}

std::string NodeWriter::parameter(const ValuePtr& value) {
  for (size_t p = 0; p < parameters_.size(); ++p)
    if (parameters_[p] == value) return parameter_names_[p];
  parameters_.push_back(value);
  parameter_names_.push_back(fmt::format("X{}", parameters_.size() - 1));
  return parameter_names_.back();
}

std::string NodeWriter::constant(HostTensor elements) {
  return parameter(graph_.known(node_.name, std::move(elements)));
}

Result<ValuePtr> NodeWriter::stage(const std::string& expression) {
  STRIA_ASSIGN(std::shared_ptr<const Call> call, graph_.call_of(*this, {expression}));
  lines_.clear();
  parameters_.clear();
  parameter_names_.clear();
  return graph_.result_of(text_of(node_), std::move(call), 0);
}

Result<std::shared_ptr<const HostTensor>> NodeWriter::known(int i) {
  if (!has(i)) return error(fmt::format("input {} is missing", i));
  if (value(i)->kind != Value::Kind::tensor) return no_tensor(*this, i);
  auto elements = graph_.elements(value(i));
  if (!elements.ok()) return elements.status().with_context(text_of(node_));
  return elements;
}

Result<std::vector<int64_t>> NodeWriter::integers(int i) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> tensor, known(i));
  const DataType type = tensor->type();
  // Such inputs of the oldest operators have the type of the data.
  const bool whole_floats = is_float(type) && node_.domain.empty() && version() < 6;
  if (!is_integer(type) && type != DataType::boolean && !whole_floats)
    return error(
        fmt::format("input {} ('{}') has type {}, not integers", i, value(i)->name, name_of(type)));
  std::vector<int64_t> out(static_cast<size_t>(tensor->element_count()));
  for (size_t e = 0; e < out.size(); ++e) {
    if (whole_floats) {
      const double number = load_scalar(type, tensor->data(), static_cast<int64_t>(e)).to_double();
      if (!(std::abs(number) < 1e15) || number != std::floor(number))
        return error(fmt::format("element {} of input {} ('{}') is {}, no whole number", e, i,
                                 value(i)->name, number));
      out[e] = static_cast<int64_t>(number);
      continue;
    }
    out[e] = load_scalar(type, tensor->data(), static_cast<int64_t>(e)).i;
  }
  return out;
}

Result<int64_t> NodeWriter::integer(int i) {
  STRIA_ASSIGN(const std::vector<int64_t> all, integers(i));
  if (all.size() != 1)
    return error(fmt::format("input {} has {} elements, not one", i, all.size()));
  return all[0];
}

Result<double> NodeWriter::number(int i) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> tensor, known(i));
  if (tensor->element_count() != 1)
    return error(fmt::format("input {} has {} elements, not one", i, tensor->element_count()));
  return load_scalar(tensor->type(), tensor->data(), 0).to_double();
}

const Attribute* NodeWriter::find_attribute(std::string_view name) const {
  return node_.find(name);
}

bool NodeWriter::has_attribute(std::string_view name) const {
  return find_attribute(name) != nullptr;
}

namespace {

Status wrong_type(const NodeWriter& node, std::string_view name, std::string_view wanted) {
  return node.error(fmt::format("attribute '{}' is no {}", name, wanted));
}

}  // namespace

Result<int64_t> NodeWriter::integer_attribute(std::string_view name, int64_t otherwise) {
  const Attribute* found = find_attribute(name);
  if (!found) return otherwise;
  if (found->type != Attribute::Type::i) return wrong_type(*this, name, "integer");
  return found->i;
}

Result<float> NodeWriter::float_attribute(std::string_view name, float otherwise) {
  const Attribute* found = find_attribute(name);
  if (!found) return otherwise;
  if (found->type != Attribute::Type::f) return wrong_type(*this, name, "float");
  return found->f;
}

Result<std::string> NodeWriter::string_attribute(std::string_view name,
                                                 std::string_view otherwise) {
  const Attribute* found = find_attribute(name);
  if (!found) return std::string(otherwise);
  if (found->type != Attribute::Type::s) return wrong_type(*this, name, "string");
  return found->s;
}

Result<std::vector<int64_t>> NodeWriter::integers_attribute(std::string_view name,
                                                            std::vector<int64_t> otherwise) {
  const Attribute* found = find_attribute(name);
  if (!found) return otherwise;
  if (found->type != Attribute::Type::ints) return wrong_type(*this, name, "list of integers");
  return found->ints;
}

Result<std::vector<float>> NodeWriter::floats_attribute(std::string_view name) {
  const Attribute* found = find_attribute(name);
  if (!found) return std::vector<float>();
  if (found->type != Attribute::Type::floats) return wrong_type(*this, name, "list of floats");
  return found->floats;
}

Result<int64_t> NodeWriter::axis(int64_t written, int64_t rank) const {
  const int64_t axis = written < 0 ? written + rank : written;
  if (axis < 0 || axis >= rank)
    return error(fmt::format("axis {} of a tensor of rank {}", written, rank));
  return axis;
}

std::string NodeWriter::fresh() { return fmt::format("T{}", ++next_); }

std::string NodeWriter::let(const std::string& expression) {
  std::string name = fresh();
  lines_.push_back(name + " = " + expression + ";");
  return name;
}

void NodeWriter::line(std::string statement) { lines_.push_back(std::move(statement)); }

bool NodeWriter::wants(int k) const {
  return k < output_count() && !node_.outputs[static_cast<size_t>(k)].empty();
}

Status NodeWriter::result(int k, const std::string& expression, ElementType element) {
  if (wants(k)) outputs_[k] = {expression, nullptr, nullptr, element, {}};
  return {};
}

Status NodeWriter::result_known(int k, HostTensor elements, ElementType element) {
  if (wants(k))
    outputs_[k] = {"", std::make_shared<HostTensor>(std::move(elements)), nullptr, element, {}};
  return {};
}

Status NodeWriter::result_value(int k, ValuePtr value) {
  if (wants(k)) outputs_[k] = {"", nullptr, std::move(value), ElementType::undefined, {}};
  return {};
}

Status NodeWriter::result_chosen(int k, const std::string& numbers,
                                 std::vector<std::string> strings) {
  if (wants(k)) outputs_[k] = {numbers, nullptr, nullptr, ElementType::i64, std::move(strings)};
  return {};
}

Status NodeWriter::error(std::string text) const {
  return invalid_argument("{}: {}", text_of(node_), text);
}

Status NodeWriter::not_supported(std::string text) const {
  return unsupported("{}: {}", text_of(node_), text);
}

}  // namespace stria::onnx
