// SPDX-License-Identifier: Apache-2.0
// LabelEncoder and CategoryMapper: elements that are keys become the values of those. Strings that
// depend on inputs are numbers of strings (chosen values), here as everywhere.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <numeric>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// Keys, values or a default of LabelEncoder: strings, or numbers.
struct Labels {
  std::string attribute;  // that has them
  std::vector<std::string> strings;
  std::optional<HostTensor> numbers;
  bool are_strings() const { return !numbers; }
  int64_t count() const {
    return numbers ? numbers->element_count() : static_cast<int64_t>(strings.size());
  }
};

template <typename T>
Result<Labels> labels_of(std::string attribute, const std::vector<T>& values) {
  Labels out;
  out.attribute = std::move(attribute);
  STRIA_ASSIGN(out.numbers, HostTensor::create(data_type_of<T>(),
                                               {static_cast<int64_t>(values.size())}, "labels"));
  if (!values.empty()) std::memcpy(out.numbers->data(), values.data(), out.numbers->byte_count());
  return out;
}

Result<Labels> tensor_labels(std::string attribute, const TensorData& tensor) {
  Labels out;
  out.attribute = std::move(attribute);
  if (tensor.type == ElementType::string) {
    out.strings = tensor.strings;
  } else {
    STRIA_ASSIGN(out.numbers, host_tensor_of(tensor));
  }
  return out;
}

// The one attribute of `keys_strings`, `keys_int64s`, `keys_floats`, `keys_tensor` that is there.
Result<Labels> list_attribute(NodeWriter& node, const std::string& stem) {
  if (const Attribute* const strings = node.find_attribute(stem + "_strings"))
    return Labels{stem + "_strings", strings->strings, std::nullopt};
  if (const Attribute* const integers = node.find_attribute(stem + "_int64s"))
    return labels_of(stem + "_int64s", integers->ints);
  if (const Attribute* const floats = node.find_attribute(stem + "_floats"))
    return labels_of(stem + "_floats", floats->floats);
  const Attribute* const tensor = node.find_attribute(stem + "_tensor");
  if (!tensor || !tensor->t)
    return node.error(
        fmt::format("attributes '{0}_strings', '{0}_int64s', '{0}_floats' and "
                    "'{0}_tensor' are all missing",
                    stem));
  return tensor_labels(stem + "_tensor", *tensor->t);
}

// What elements that are no key become: one label of the values' kind.
Result<Labels> default_label(NodeWriter& node, const Labels& values) {
  if (const Attribute* const tensor = node.find_attribute("default_tensor"); tensor && tensor->t)
    return tensor_labels("default_tensor", *tensor->t);
  if (values.are_strings()) {
    STRIA_ASSIGN(const std::string text, node.string_attribute("default_string", "_Unused"));
    return Labels{"default_string", {text}, std::nullopt};
  }
  if (is_float(values.numbers->type())) {
    STRIA_ASSIGN(const float number, node.float_attribute("default_float", -0.0F));
    return labels_of<float>("default_float", {number});
  }
  STRIA_ASSIGN(const int64_t number, node.integer_attribute("default_int64", -1));
  return labels_of<int64_t>("default_int64", {number});
}

// The default, then the values: label 0 is that of no key.
Result<HostTensor> value_table(NodeWriter& node, const Labels& values, const Labels& otherwise) {
  if (otherwise.are_strings() || otherwise.count() != 1)
    return node.error(fmt::format("attribute '{}' is not one label of the type of those in '{}'",
                                  otherwise.attribute, values.attribute));
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

// The default, then the values: the string of each label.
Result<std::vector<std::string>> value_strings(NodeWriter& node, const Labels& values,
                                               const Labels& otherwise) {
  if (!otherwise.are_strings() || otherwise.count() != 1)
    return node.error(fmt::format("attribute '{}' is not one string", otherwise.attribute));
  std::vector<std::string> out = otherwise.strings;
  out.insert(out.end(), values.strings.begin(), values.strings.end());
  return out;
}

// The label of each of some strings: 0, or the number of the last equal key plus 1.
std::vector<int64_t> labels_of_strings(const std::vector<std::string>& strings,
                                       const Labels& keys) {
  std::map<std::string, int64_t> at;
  for (size_t k = 0; k < keys.strings.size(); ++k)
    at[keys.strings[k]] = static_cast<int64_t>(k) + 1;
  std::vector<int64_t> out;
  for (const std::string& text : strings) {
    const auto found = at.find(text);
    out.push_back(found == at.end() ? 0 : found->second);
  }
  return out;
}

// The keys are strings, and so is what the input is: known, or chosen from known ones.
Status encode_strings(NodeWriter& node, const Labels& keys, const Labels& values,
                      const Labels& otherwise) {
  if (!node.has(0)) return node.error("input 0 is missing");
  const ValuePtr& x = node.value(0);
  const bool known = x->kind == Value::Kind::strings;
  if (!known && x->kind != Value::Kind::chosen)
    return node.error(
        fmt::format("attribute '{}' has strings, input 0 ('{}') is none", keys.attribute, x->name));
  const std::vector<int64_t> labels = labels_of_strings(x->strings, keys);
  if (values.are_strings()) {
    STRIA_ASSIGN(const std::vector<std::string> all, value_strings(node, values, otherwise));
    std::vector<std::string> strings;
    for (const int64_t label : labels) strings.push_back(all[static_cast<size_t>(label)]);
    if (!known) return node.result_value(0, chosen_by(x->items[0], std::move(strings)));
    auto value = std::make_shared<Value>(*x);
    value->name = node.node().outputs.empty() ? "" : node.node().outputs[0];
    value->strings = std::move(strings);
    return node.result_value(0, value);
  }
  STRIA_ASSIGN(const HostTensor made, value_table(node, values, otherwise));
  const std::vector<int64_t> sizes =
      known ? x->type.sizes : std::vector<int64_t>{static_cast<int64_t>(labels.size())};
  STRIA_ASSIGN(HostTensor out, HostTensor::create(made.type(), sizes, "labels"));
  for (size_t e = 0; e < labels.size(); ++e)
    store_scalar(made.type(), out.data(), static_cast<int64_t>(e),
                 load_scalar(made.type(), made.data(), labels[e]));
  if (known) return node.result_known(0, std::move(out));
  return node.result(
      0, fmt::format("gather({}, {})", node.constant(std::move(out)), node.parameter(x->items[0])));
}

Status encode(NodeWriter& node, const Labels& keys, const Labels& values, const Labels& otherwise) {
  if (keys.count() != values.count())
    return node.error(fmt::format("attribute '{}' has {} keys, '{}' has {} values", keys.attribute,
                                  keys.count(), values.attribute, values.count()));
  if (keys.count() == 0)
    return node.error(fmt::format("attribute '{}' has no keys", keys.attribute));
  if (keys.are_strings()) return encode_strings(node, keys, values, otherwise);
  if (values.are_strings()) {
    STRIA_ASSIGN(std::vector<std::string> all, value_strings(node, values, otherwise));
    STRIA_ASSIGN(const std::string numbers, label_numbers(node, keys));
    return node.result_chosen(0, fmt::format("as_int({}, 64)", numbers), std::move(all));
  }
  STRIA_ASSIGN(HostTensor made, value_table(node, values, otherwise));
  STRIA_ASSIGN(const std::string numbers, label_numbers(node, keys));
  return node.result(0, fmt::format("gather({}, {})", node.constant(std::move(made)), numbers));
}

// Texts and as many integers: the input says from which to which it goes.
Status encode_pairs(NodeWriter& node, const std::string& integers_attribute,
                    const std::vector<int64_t>& integers, const std::string& texts_attribute,
                    const std::vector<std::string>& texts) {
  STRIA_ASSIGN(const Labels numbers, labels_of(integers_attribute, integers));
  const Labels strings{texts_attribute, texts, std::nullopt};
  if (!node.has(0)) return node.error("input 0 is missing");
  const bool from_numbers = node.value(0)->kind == Value::Kind::tensor;
  const Labels& values = from_numbers ? strings : numbers;
  STRIA_ASSIGN(const Labels otherwise, default_label(node, values));
  return encode(node, from_numbers ? numbers : strings, values, otherwise);
}

}  // namespace

Status label_encoder(NodeWriter& node) {
  if (node.version() < 2) {
    // Version 1 numbers its texts itself.
    STRIA_ASSIGN(const std::vector<std::string> texts, text_list(node, "classes_strings"));
    std::vector<int64_t> places(texts.size());
    std::iota(places.begin(), places.end(), 0);
    return encode_pairs(node, "classes_strings", places, "classes_strings", texts);
  }
  STRIA_ASSIGN(const Labels keys, list_attribute(node, "keys"));
  STRIA_ASSIGN(const Labels values, list_attribute(node, "values"));
  STRIA_ASSIGN(const Labels otherwise, default_label(node, values));
  return encode(node, keys, values, otherwise);
}

Status category_mapper(NodeWriter& node) {
  STRIA_ASSIGN(const std::vector<int64_t> integers, node.integers_attribute("cats_int64s"));
  STRIA_ASSIGN(const std::vector<std::string> texts, text_list(node, "cats_strings"));
  return encode_pairs(node, "cats_int64s", integers, "cats_strings", texts);
}

}  // namespace stria::onnx::operators
