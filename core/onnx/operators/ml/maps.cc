// SPDX-License-Identifier: Apache-2.0
// ZipMap, CastMap and DictVectorizer. A map here has known keys: it is a tensor whose last
// dimension goes over them, and so is what a program gives for it. Nothing else makes maps: a graph
// cannot take one as an input.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

// The map that is input 0.
Result<ValuePtr> map_of(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  const ValuePtr& value = node.value(0);
  if (value->kind != Value::Kind::map)
    return node.error(fmt::format("its input '{}' is no map", value->name));
  if (value->type.sizes.size() != 1)
    return node.error(fmt::format("its input '{}' is a sequence of maps", value->name));
  return value;
}

// Elements of a map's values by their places, as a row; where a place is negative, 0.
Result<std::string> elements_at(NodeWriter& node, const ValuePtr& map,
                                const std::vector<int32_t>& places) {
  const auto count = static_cast<int64_t>(places.size());
  STRIA_ASSIGN(const std::string at, table(node, places, {1, count}));
  return node.let(fmt::format("{0} < 0 ? 0 : gather({1}, {0})", at, node.parameter(map->items[0])));
}

}  // namespace

// A sequence of maps, one for each row.
Status zip_map(NodeWriter& node) {
  STRIA_ASSIGN(const std::vector<int64_t> integers, node.integers_attribute("classlabels_int64s"));
  STRIA_ASSIGN(const std::vector<std::string> strings, text_list(node, "classlabels_strings"));
  STRIA_RETURN_IF_ERROR(node.tensor(0).status());
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.empty() || sizes.size() > 2)
    return node.error(fmt::format("its input has rank {}, not 1 or 2", sizes.size()));
  if (integers.empty() == strings.empty())
    return node.error(
        fmt::format("it has {} keys in 'classlabels_int64s' and {} in "
                    "'classlabels_strings': one of the two must be there",
                    integers.size(), strings.size()));
  const auto keys = static_cast<int64_t>(integers.size() + strings.size());
  if (keys != sizes.back())
    return node.error(fmt::format("it has {} keys for rows of {} values", keys, sizes.back()));
  auto out = std::make_shared<Value>();
  out->kind = Value::Kind::map;
  out->name = node.node().outputs.empty() ? "" : node.node().outputs[0];
  out->integers = integers;
  out->strings = strings;
  out->items = {node.value(0)};
  if (sizes.size() == 1) {
    const auto as_row = [&](NodeWriter& row) -> Status {
      STRIA_ASSIGN(const std::string x, row.tensor(0));
      return row.result(0, reshaped(x, {1, keys}));
    };
    STRIA_ASSIGN(out->items[0], node.graph().compute("Row", {node.value(0)}, as_row));
  }
  out->type.sizes = out->items[0]->type.sizes;
  return node.result_value(0, out);
}

// The values of a map in the order of its keys: one behind another, or, where the form is SPARSE,
// each at the place that its key is.
Status cast_map(NodeWriter& node) {
  STRIA_ASSIGN(const ValuePtr map, map_of(node));
  STRIA_ASSIGN(const std::string to, node.string_attribute("cast_to", "TO_FLOAT"));
  STRIA_ASSIGN(const std::string form, node.string_attribute("map_form", "DENSE"));
  STRIA_ASSIGN(const int64_t most, node.integer_attribute("max_map", 1));
  if (to == "TO_STRING") return node.not_supported("a cast of numbers to strings");
  if (to != "TO_FLOAT" && to != "TO_INT64")
    return node.error(
        fmt::format("attribute 'cast_to' is '{}': TO_FLOAT, TO_INT64 or TO_STRING", to));
  if (form != "DENSE" && form != "SPARSE")
    return node.error(fmt::format("attribute 'map_form' is '{}': DENSE or SPARSE", form));
  if (map->integers.empty())
    return node.error(fmt::format("the keys of '{}' are strings, not integers", map->name));
  std::vector<int32_t> places;
  if (form == "DENSE") {
    places.resize(map->integers.size());
    std::iota(places.begin(), places.end(), 0);
    std::sort(places.begin(), places.end(), [&](int32_t a, int32_t b) {
      return map->integers[static_cast<size_t>(a)] < map->integers[static_cast<size_t>(b)];
    });
  } else {
    constexpr int64_t kMostElements = 1 << 20;
    if (most < 1 || most > kMostElements)
      return node.error(
          fmt::format("attribute 'max_map' is {}: 1 to {} are possible", most, kMostElements));
    places.assign(static_cast<size_t>(most), -1);
    for (size_t k = 0; k < map->integers.size(); ++k) {
      const int64_t key = map->integers[k];
      if (key < 0 || key >= most)
        return node.error(fmt::format("attribute 'max_map' is {}, and '{}' has the key {}", most,
                                      map->name, key));
      places[static_cast<size_t>(key)] = static_cast<int32_t>(k);
    }
  }
  STRIA_ASSIGN(const std::string values, elements_at(node, map, places));
  const DataType from = map->items[0]->type.type;
  return node.result(0, converted(values, from, to == "TO_FLOAT" ? DataType::fp32 : DataType::i64));
}

// The values of the keys of a vocabulary, in its order; 0 of those that the map does not have.
Status dict_vectorizer(NodeWriter& node) {
  STRIA_ASSIGN(const ValuePtr map, map_of(node));
  STRIA_ASSIGN(const std::vector<int64_t> integers, node.integers_attribute("int64_vocabulary"));
  STRIA_ASSIGN(const std::vector<std::string> strings, text_list(node, "string_vocabulary"));
  if (integers.empty() == strings.empty())
    return node.error(
        fmt::format("it has {} keys in 'int64_vocabulary' and {} in "
                    "'string_vocabulary': one of the two must be there",
                    integers.size(), strings.size()));
  if (integers.empty() != map->integers.empty())
    return node.error(fmt::format("its keys are {}, those of '{}' are not",
                                  integers.empty() ? "strings" : "integers", map->name));
  std::map<int64_t, int32_t> at_integer;
  std::map<std::string, int32_t> at_string;
  for (size_t k = 0; k < map->integers.size(); ++k)
    at_integer[map->integers[k]] = static_cast<int32_t>(k);
  for (size_t k = 0; k < map->strings.size(); ++k)
    at_string[map->strings[k]] = static_cast<int32_t>(k);
  std::vector<int32_t> places;
  const auto add = [&](const auto& at, const auto& key) {
    const auto found = at.find(key);
    places.push_back(found == at.end() ? -1 : found->second);
  };
  for (const int64_t key : integers) add(at_integer, key);
  for (const std::string& key : strings) add(at_string, key);
  STRIA_ASSIGN(const std::string values, elements_at(node, map, places));
  return node.result(0, values);
}

}  // namespace stria::onnx::operators
