// SPDX-License-Identifier: Apache-2.0
// Binarizer, ArrayFeatureExtractor and LabelEncoder.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// Keys, values or a default of LabelEncoder: strings, or numbers.
struct Labels {
  std::vector<std::string> strings;
  std::optional<HostTensor> numbers;
  bool are_strings() const { return !numbers; }
  int64_t count() const {
    return numbers ? numbers->element_count() : static_cast<int64_t>(strings.size());
  }
};

template <typename T>
Result<Labels> labels_of(const std::vector<T>& values) {
  Labels out;
  STRIA_ASSIGN(out.numbers, HostTensor::create(data_type_of<T>(),
                                               {static_cast<int64_t>(values.size())}, "labels"));
  if (!values.empty()) std::memcpy(out.numbers->data(), values.data(), out.numbers->byte_count());
  return out;
}

// The one attribute of `keys_strings`, `keys_int64s`, `keys_floats`, `keys_tensor` that is there.
Result<Labels> list_attribute(NodeWriter& node, const std::string& stem) {
  if (const Attribute* const strings = node.find_attribute(stem + "_strings"))
    return Labels{strings->strings, std::nullopt};
  if (const Attribute* const integers = node.find_attribute(stem + "_int64s"))
    return labels_of(integers->ints);
  if (const Attribute* const floats = node.find_attribute(stem + "_floats"))
    return labels_of(floats->floats);
  const Attribute* const tensor = node.find_attribute(stem + "_tensor");
  if (!tensor || !tensor->t) return node.error(fmt::format("attribute '{}_…' is missing", stem));
  if (tensor->t->type == ElementType::string) return Labels{tensor->t->strings, std::nullopt};
  Labels out;
  STRIA_ASSIGN(out.numbers, host_tensor_of(*tensor->t));
  return out;
}

// What elements that are no key become: one label of the values' kind.
Result<Labels> default_label(NodeWriter& node, const Labels& values) {
  if (const Attribute* const tensor = node.find_attribute("default_tensor"); tensor && tensor->t) {
    if (tensor->t->type == ElementType::string) return Labels{tensor->t->strings, std::nullopt};
    Labels out;
    STRIA_ASSIGN(out.numbers, host_tensor_of(*tensor->t));
    return out;
  }
  if (values.are_strings()) {
    STRIA_ASSIGN(const std::string text, node.string_attribute("default_string", "_Unused"));
    return Labels{{text}, std::nullopt};
  }
  if (is_float(values.numbers->type())) {
    STRIA_ASSIGN(const float number, node.float_attribute("default_float", -0.0F));
    return labels_of<float>({number});
  }
  STRIA_ASSIGN(const int64_t number, node.integer_attribute("default_int64", -1));
  return labels_of<int64_t>({number});
}

// The default, then the values: label 0 is that of no key.
Result<HostTensor> value_table(NodeWriter& node, const Labels& values, const Labels& otherwise) {
  if (otherwise.are_strings() || otherwise.count() != 1)
    return node.error("its default is not one label of the type of its values");
  const DataType type = values.numbers->type();
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, {values.count() + 1}, "labels"));
  store_scalar(type, out.data(), 0,
               load_scalar(otherwise.numbers->type(), otherwise.numbers->data(), 0));
  for (int64_t k = 0; k < values.count(); ++k)
    store_scalar(type, out.data(), k + 1, load_scalar(type, values.numbers->data(), k));
  return out;
}

// The label of each element of a tensor of numbers: 0, or the number of the last equal key plus 1.
Result<std::string> label_numbers(NodeWriter& node, const Labels& keys) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  int64_t count = 1;
  for (const int64_t size : node.type(0).sizes) count *= size;
  STRIA_ASSIGN(HostTensor own, keys.numbers->clone());
  const std::string row = node.let(reshaped(node.constant(std::move(own)), {1, keys.count()}));
  const std::string column = node.let(reshaped(x, {count, 1}));
  // NaN is equal to NaN here.
  const std::string equal =
      node.let(is_float(node.type(0).type)
                   ? fmt::format("{0} == {1} || ({0} != {0} && {1} != {1})", column, row)
                   : fmt::format("{} == {}", column, row));
  const std::string number = node.let(fmt::format("{0} ? index({0}, 1) + 1 : 0", equal));
  const std::string last = node.fresh();
  node.line(fmt::format("{}[e : {}] = >({}[e, k]);", last, count, number));
  return node.let(reshaped(last, node.type(0).sizes));
}

// Strings, or what becomes strings: only where the elements are known.
Result<std::vector<int64_t>> known_label_numbers(NodeWriter& node, const Labels& keys) {
  std::vector<int64_t> out;
  if (keys.are_strings()) {
    if (!node.has(0) || node.value(0)->kind != Value::Kind::strings)
      return node.error("its keys are strings, its input is not");
    std::map<std::string, int64_t> at;
    for (size_t k = 0; k < keys.strings.size(); ++k)
      at[keys.strings[k]] = static_cast<int64_t>(k) + 1;
    for (const std::string& text : node.value(0)->strings) {
      const auto found = at.find(text);
      out.push_back(found == at.end() ? 0 : found->second);
    }
    return out;
  }
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> elements, node.known(0));
  for (int64_t e = 0; e < elements->element_count(); ++e) {
    int64_t label = 0;
    const double element = load_scalar(elements->type(), elements->data(), e).to_double();
    for (int64_t k = 0; k < keys.count(); ++k) {
      const double key = load_scalar(keys.numbers->type(), keys.numbers->data(), k).to_double();
      if (key == element || (std::isnan(key) && std::isnan(element))) label = k + 1;
    }
    out.push_back(label);
  }
  return out;
}

}  // namespace

Status binarizer(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const float threshold, node.float_attribute("threshold", 0));
  return node.result(
      0, stria::onnx::cast(fmt::format("{} > {}", x, number(threshold)), node.type(0).type));
}

// Elements of the last dimension by their numbers; what is a vector becomes a row.
Status array_feature_extractor(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string y, node.tensor(1));
  const std::vector<int64_t>& sizes = node.type(0).sizes;
  if (sizes.empty()) return node.error("its input is a single number");
  int64_t rows = 1, chosen = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  for (const int64_t size : node.type(1).sizes) chosen *= size;
  const std::string matrix = node.let(reshaped(x, {rows, sizes.back()}));
  const std::string turned = node.fresh(), back = node.fresh();
  node.line(fmt::format("{}[c, r : {}, {}] = =({}[r, c]);", turned, sizes.back(), rows, matrix));
  const std::string found =
      node.let(fmt::format("gather({}, {})", turned, node.let(reshaped(y, {chosen}))));
  node.line(fmt::format("{}[r, c : {}, {}] = =({}[c, r]);", back, rows, chosen, found));
  std::vector<int64_t> made(sizes.begin(), sizes.end() - 1);
  if (made.empty()) made.push_back(1);
  made.push_back(chosen);
  return node.result(0, reshaped(back, made));
}

Status label_encoder(NodeWriter& node) {
  if (node.version() < 2) return node.not_supported("the form of opset 1");
  STRIA_ASSIGN(const Labels keys, list_attribute(node, "keys"));
  STRIA_ASSIGN(const Labels values, list_attribute(node, "values"));
  STRIA_ASSIGN(const Labels otherwise, default_label(node, values));
  if (keys.count() != values.count())
    return node.error(fmt::format("{} keys, {} values", keys.count(), values.count()));
  if (keys.count() == 0) return node.error("it has no keys");
  if (!keys.are_strings() && !values.are_strings()) {
    STRIA_ASSIGN(HostTensor made, value_table(node, values, otherwise));
    STRIA_ASSIGN(const std::string numbers, label_numbers(node, keys));
    return node.result(0, fmt::format("gather({}, {})", node.constant(std::move(made)), numbers));
  }
  STRIA_ASSIGN(const std::vector<int64_t> numbers, known_label_numbers(node, keys));
  if (values.are_strings()) {
    if (!otherwise.are_strings() || otherwise.count() != 1)
      return node.error("its default is not one string");
    auto value = std::make_shared<Value>();
    value->kind = Value::Kind::strings;
    value->name = node.node().outputs[0];
    value->type.sizes = node.type(0).sizes;
    for (const int64_t label : numbers)
      value->strings.push_back(label ? values.strings[static_cast<size_t>(label - 1)]
                                     : otherwise.strings[0]);
    return node.result_value(0, value);
  }
  STRIA_ASSIGN(const HostTensor made, value_table(node, values, otherwise));
  STRIA_ASSIGN(HostTensor out, HostTensor::create(made.type(), node.type(0).sizes, "labels"));
  for (size_t e = 0; e < numbers.size(); ++e)
    store_scalar(made.type(), out.data(), static_cast<int64_t>(e),
                 load_scalar(made.type(), made.data(), numbers[e]));
  return node.result_known(0, std::move(out));
}

}  // namespace stria::onnx::operators
