// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals. They are gone when the program is made: what is left are their tensors.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/sequence/sequence_value.h"
#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx::operators {
namespace {

// The place that input `i` names among `count`; behind the last one without it. One more than
// there are if something is put there.
Result<size_t> place_in(NodeWriter& node, int i, size_t count, bool may_be_behind) {
  const auto size = static_cast<int64_t>(count);
  int64_t place = may_be_behind ? size : size - 1;
  if (node.has(i)) {
    STRIA_ASSIGN(place, node.integer(i));
  }
  const int64_t at = place < 0 ? place + size : place;
  if (at < 0 || at > size || (at == size && !may_be_behind))
    return node.error(fmt::format("place {} of {} items", place, size));
  return static_cast<size_t>(at);
}

}  // namespace

Status sequence_construct(NodeWriter& node) {
  std::vector<ValuePtr> items;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
    items.push_back(node.value(i));
  }
  return node.result_value(0, sequence_of(node, std::move(items)));
}

Status sequence_empty(NodeWriter& node) { return node.result_value(0, sequence_of(node, {})); }

Status sequence_at(NodeWriter& node) {
  STRIA_ASSIGN(const std::vector<ValuePtr> items, items_of(node, 0));
  STRIA_ASSIGN(const size_t place, place_in(node, 1, items.size(), false));
  return node.result_value(0, items[place]);
}

Status sequence_insert(NodeWriter& node) {
  STRIA_ASSIGN(std::vector<ValuePtr> items, items_of(node, 0));
  if (!node.has(1)) return node.error("input 1 is missing");
  STRIA_ASSIGN(const size_t place, place_in(node, 2, items.size(), true));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), node.value(1));
  return node.result_value(0, sequence_of(node, std::move(items)));
}

Status sequence_erase(NodeWriter& node) {
  STRIA_ASSIGN(std::vector<ValuePtr> items, items_of(node, 0));
  STRIA_ASSIGN(const size_t place, place_in(node, 1, items.size(), false));
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  return node.result_value(0, sequence_of(node, std::move(items)));
}

Status sequence_length(NodeWriter& node) {
  STRIA_ASSIGN(const std::vector<ValuePtr> items, items_of(node, 0));
  STRIA_ASSIGN(HostTensor count, integer_table({static_cast<int64_t>(items.size())}, {}));
  return node.result_known(0, std::move(count));
}

Status concat_from_sequence(NodeWriter& node) {
  STRIA_ASSIGN(const std::vector<ValuePtr> items, items_of(node, 0));
  STRIA_ASSIGN(const int64_t axis, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t stacked, node.integer_attribute("new_axis", 0));
  if (items.empty()) return node.error("a sequence without items");
  STRIA_ASSIGN(const ValuePtr all, joined_along(node, items, axis, stacked != 0));
  return node.result_value(0, all);
}

Status split_to_sequence(NodeWriter& node) {
  STRIA_RETURN_IF_ERROR(node.tensor(0).status());
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(const int64_t keeps_axis, node.integer_attribute("keepdims", 1));
  const int64_t size = node.size(0, static_cast<int>(axis));
  Sizes parts;
  if (node.has(1)) {
    STRIA_ASSIGN(parts, node.integers(1));
    // One number is the size of all parts but the last.
    if (node.rank(1) == 0) {
      const int64_t each = parts[0];
      if (each < 1) return node.error(fmt::format("parts of {} elements", each));
      parts.clear();
      for (int64_t begin = 0; begin < size; begin += each)
        parts.push_back(std::min(each, size - begin));
    }
  } else {
    parts.assign(static_cast<size_t>(size), 1);
  }
  std::vector<ValuePtr> items;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > size - begin)
      return node.error(
          fmt::format("parts of [{}] elements do not make {}", list_text(parts), size));
    STRIA_ASSIGN(ValuePtr item,
                 part_of(node, node.value(0), axis, begin, part, node.has(1) || keeps_axis != 0));
    items.push_back(std::move(item));
    begin += part;
  }
  if (begin != size)
    return node.error(fmt::format("parts of [{}] elements do not make {}", list_text(parts), size));
  return node.result_value(0, sequence_of(node, std::move(items)));
}

// An optional is what it holds.
Status optional(NodeWriter& node) {
  if (node.has(0)) return node.result_value(0, node.value(0));
  auto nothing = std::make_shared<Value>();
  nothing->kind = Value::Kind::absent;
  nothing->name = node.node().outputs.empty() ? "" : node.node().outputs[0];
  return node.result_value(0, nothing);
}

Status optional_get_element(NodeWriter& node) {
  if (!node.has(0)) return node.error("the optional holds nothing");
  return node.result_value(0, node.value(0));
}

Status optional_has_element(NodeWriter& node) {
  STRIA_ASSIGN(HostTensor holds, number_table(DataType::boolean, {node.has(0) ? 1.0 : 0.0}, {}));
  return node.result_known(0, std::move(holds));
}

}  // namespace stria::onnx::operators
