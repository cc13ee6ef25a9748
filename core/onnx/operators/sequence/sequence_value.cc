// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/sequence/sequence_value.h"

#include <fmt/format.h>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx {

ValuePtr sequence_of(const NodeWriter& node, std::vector<ValuePtr> items) {
  auto value = std::make_shared<Value>();
  value->kind = Value::Kind::sequence;
  value->name = node.node().outputs.empty() ? "" : node.node().outputs[0];
  value->items = std::move(items);
  return value;
}

// Each map of a sequence is a node of its own.
constexpr int64_t kMostRows = 4096;

Result<std::vector<ValuePtr>> items_of(NodeWriter& node, int i) {
  if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
  const ValuePtr& value = node.value(i);
  if (value->kind == Value::Kind::map && value->type.sizes.size() == 2) {
    if (value->type.sizes[0] > kMostRows)
      return node.not_supported(fmt::format("a sequence of {} maps", value->type.sizes[0]));
    std::vector<ValuePtr> maps;
    for (int64_t row = 0; row < value->type.sizes[0]; ++row) {
      auto map = std::make_shared<Value>(*value);
      STRIA_ASSIGN(map->items[0], part_of(node, value->items[0], 0, row, 1, false));
      map->type.sizes = {value->type.sizes[1]};
      maps.push_back(std::move(map));
    }
    return maps;
  }
  if (value->kind != Value::Kind::sequence)
    return node.error(fmt::format("input {} ('{}') is no sequence", i, node.value(i)->name));
  return node.value(i)->items;
}

Result<ValuePtr> part_of(NodeWriter& node, const ValuePtr& tensor, int64_t axis, int64_t begin,
                         int64_t size, bool keeps_axis) {
  return node.graph().compute("Part", {tensor}, [&](NodeWriter& part) -> Status {
    STRIA_ASSIGN(const std::string x, part.tensor(0));
    Sizes sizes = tensor->type.sizes;
    const auto a = static_cast<size_t>(axis);
    const std::string cut = sliced(part, x, sizes, a, begin, 1, size);
    sizes[a] = size;
    if (!keeps_axis) sizes.erase(sizes.begin() + axis);
    return part.result(0, keeps_axis ? cut : reshaped(cut, sizes));
  });
}

Result<ValuePtr> joined_along(NodeWriter& node, const std::vector<ValuePtr>& tensors, int64_t axis,
                              bool stacked) {
  for (const ValuePtr& tensor : tensors)
    if (tensor->kind != Value::Kind::tensor)
      return node.error(fmt::format("'{}' is no tensor", tensor->name));
  const auto rank = static_cast<int64_t>(tensors[0]->type.sizes.size());
  STRIA_ASSIGN(const int64_t at, node.axis(axis, rank + (stacked ? 1 : 0)));
  const auto a = static_cast<size_t>(at);
  return node.graph().compute("Join", tensors, [&](NodeWriter& join) -> Status {
    std::vector<std::string> parts;
    std::vector<Sizes> sizes;
    for (int i = 0; i < join.input_count(); ++i) {
      STRIA_ASSIGN(std::string part, join.tensor(i));
      sizes.push_back(join.type(i).sizes);
      Sizes rest = sizes.back();
      if (!stacked && rest.size() == sizes[0].size()) rest[a] = sizes[0][a];
      if (rest != sizes[0] || join.type(i).type != join.type(0).type)
        return node.error(fmt::format("tensors of sizes [{}] and [{}] along axis {}",
                                      list_text(sizes[0]), list_text(sizes.back()), at));
      parts.push_back(std::move(part));
    }
    if (stacked)
      for (size_t i = 0; i < parts.size(); ++i) {
        sizes[i].insert(sizes[i].begin() + at, 1);
        parts[i] = join.let(reshaped(parts[i], sizes[i]));
      }
    return join.result(0, concatenated(join, parts, sizes, a));
  });
}

}  // namespace stria::onnx
