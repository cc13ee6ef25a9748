// SPDX-License-Identifier: Apache-2.0
// OneHotEncoder and FeatureVectorizer: columns of features for models that know numbers alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// A row for each of the strings: 1 at the last category that is equal. `zeros` allows rows without.
Result<HostTensor> rows_of_strings(NodeWriter& node, const std::vector<std::string>& strings,
                                   const std::vector<std::string>& categories, bool zeros,
                                   std::vector<int64_t> sizes) {
  std::map<std::string, int64_t> at;
  for (size_t c = 0; c < categories.size(); ++c) at[categories[c]] = static_cast<int64_t>(c);
  const auto width = static_cast<int64_t>(categories.size());
  sizes.push_back(width);
  STRIA_ASSIGN(HostTensor out, HostTensor::create(DataType::fp32, std::move(sizes), "categories"));
  std::memset(out.data(), 0, out.byte_count());
  for (size_t s = 0; s < strings.size(); ++s) {
    const auto found = at.find(strings[s]);
    if (found != at.end())
      store_scalar(DataType::fp32, out.data(), static_cast<int64_t>(s) * width + found->second,
                   Scalar::of_float(DataType::fp64, 1));
    else if (!zeros)
      return node.error(fmt::format("'{}' is no category, and attribute 'zeros' is 0", strings[s]));
  }
  return out;
}

}  // namespace

// What is no category becomes zeros where only the device knows it, also if the attribute `zeros`
// is 0: no device can fail at an element.
Status one_hot_encoder(NodeWriter& node) {
  STRIA_ASSIGN(const std::vector<int64_t> numbers, node.integers_attribute("cats_int64s"));
  STRIA_ASSIGN(const std::vector<std::string> texts, text_list(node, "cats_strings"));
  STRIA_ASSIGN(const int64_t zeros, node.integer_attribute("zeros", 1));
  if (numbers.empty() == texts.empty())
    return node.error(
        fmt::format("it has {} categories in 'cats_int64s' and {} in 'cats_strings': "
                    "one of the two must be there",
                    numbers.size(), texts.size()));
  if (!texts.empty()) {
    if (!node.has(0)) return node.error("input 0 is missing");
    const ValuePtr& x = node.value(0);
    if (x->kind == Value::Kind::strings) {
      STRIA_ASSIGN(HostTensor rows,
                   rows_of_strings(node, x->strings, texts, zeros != 0, x->type.sizes));
      return node.result_known(0, std::move(rows));
    }
    if (x->kind != Value::Kind::chosen)
      return node.error(fmt::format("its categories are strings, its input '{}' is not", x->name));
    const auto count = static_cast<int64_t>(x->strings.size());
    STRIA_ASSIGN(HostTensor rows, rows_of_strings(node, x->strings, texts, true, {count}));
    return node.result(0, fmt::format("gather({}, {})", node.constant(std::move(rows)),
                                      node.parameter(x->items[0])));
  }
  STRIA_ASSIGN(std::string x, node.tensor(0));
  Sizes sizes = node.type(0).sizes;
  sizes.push_back(1);
  x = node.let(reshaped(node.let(converted(x, node.type(0).type, DataType::i64)), sizes));
  // A category that stands twice is that of its last place.
  std::map<int64_t, size_t> last;
  for (size_t c = 0; c < numbers.size(); ++c) last[numbers[c]] = c;
  std::vector<float> counts(numbers.size());
  for (size_t c = 0; c < numbers.size(); ++c) counts[c] = last[numbers[c]] == c ? 1 : 0;
  const auto width = static_cast<int64_t>(numbers.size());
  STRIA_ASSIGN(const std::string categories, table(node, numbers, {width}));
  STRIA_ASSIGN(const std::string ones, table(node, counts, {width}));
  return node.result(0, fmt::format("{} == {} ? {} : 0.0", x, categories, ones));
}

// The inputs side by side, each with as many features as its dimension says: those beyond it are
// left out, those that it lacks are 0.
Status feature_vectorizer(NodeWriter& node) {
  STRIA_ASSIGN(std::vector<int64_t> widths, node.integers_attribute("inputdimensions"));
  const auto inputs = static_cast<size_t>(node.input_count());
  if (inputs == 0) return node.error("it has no inputs");
  if (!widths.empty() && widths.size() != inputs)
    return wrong_count(node, "inputdimensions", widths.size(), node.input_count());
  constexpr int64_t kMostFeatures = 1 << 24;
  int64_t rows = 0, all = 0;
  std::vector<std::string> parts;
  std::vector<int64_t> has;
  for (int i = 0; i < node.input_count(); ++i) {
    STRIA_ASSIGN(const std::string x, node.tensor(i));
    const Sizes& sizes = node.type(i).sizes;
    const int64_t own_rows = sizes.size() < 2 ? 1 : sizes[0];
    if (i == 0) rows = own_rows;
    if (own_rows != rows)
      return node.error(fmt::format("input {} has {} rows, input 0 has {}", i, own_rows, rows));
    int64_t features = 1;
    for (size_t d = sizes.size() < 2 ? 0 : 1; d < sizes.size(); ++d) features *= sizes[d];
    has.push_back(features);
    if (widths.size() < inputs) widths.push_back(features);
    const int64_t width = widths[static_cast<size_t>(i)];
    if (width < 0 || width > kMostFeatures || (all += width) > kMostFeatures)
      return node.error(
          fmt::format("attribute 'inputdimensions' has {} features for input {}: at "
                      "most {} are possible in all",
                      width, i, kMostFeatures));
    const std::string own = node.let(converted(x, node.type(i).type, DataType::fp32));
    parts.push_back(node.let(reshaped(own, {rows, features})));
  }
  std::string joined = node.let("0.0");
  bool has_features = false;
  int64_t begin = 0;
  for (size_t i = 0; i < inputs; ++i) {
    if (has[i] > 0 && widths[i] > 0) {
      has_features = true;
      joined =
          contract(node, '=', {"r", fmt::format("c + {}", begin)}, {rows, all}, parts[i] + "[r, c]",
                   {fmt::format("c < {}", std::min(has[i], widths[i]))}, joined);
    }
    begin += widths[i];
  }
  if (!has_features) return node.error("its inputs have no features");
  return node.result(0, joined);
}

}  // namespace stria::onnx::operators
