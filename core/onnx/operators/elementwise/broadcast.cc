// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/elementwise/broadcast.h"

#include <fmt/format.h>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/element_types.h"

namespace stria::onnx {

Result<std::string> second_operand(NodeWriter& node) {
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  if (node.version() >= 7 || !node.has_attribute("axis") || !node.has(0)) return b;
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  const int64_t behind = node.rank(0) - axis - node.rank(1);
  if (behind < 0)
    return node.error(fmt::format("axis {}: a tensor of rank {} has no room for one of rank {}",
                                  written, node.rank(0), node.rank(1)));
  std::vector<int64_t> sizes = node.type(1).sizes;
  sizes.insert(sizes.end(), static_cast<size_t>(behind), 1);
  return behind ? reshaped(b, sizes) : b;
}

Status check_one_type(NodeWriter& node, int first) {
  for (int i = first + 1; i < node.input_count(); ++i) {
    if (!node.has(first) || !node.has(i)) continue;
    const Value &a = *node.value(first), &b = *node.value(i);
    if (a.kind != Value::Kind::tensor || b.kind != Value::Kind::tensor) continue;
    if (const ElementType is = element_of(a), other = element_of(b); is != other)
      return node.error(fmt::format("inputs {} and {} have elements of {} and {}, not of one type",
                                    first, i, name_of(is), name_of(other)));
  }
  return {};
}

}  // namespace stria::onnx
