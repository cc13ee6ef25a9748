// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements, GatherND and Compress: elements at chosen positions.
#include <fmt/format.h>

#include "stria/onnx/operators/index/position.h"
#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx::operators {

Status gather(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string indices, node.tensor(1));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  const std::string from_start = node.let(
      counted_from_start(indices, node.type(1).type, node.size(0, static_cast<int>(axis))));
  return node.result(0, taken(node, x, node.type(0).sizes, static_cast<size_t>(axis), from_start,
                              node.type(1).sizes));
}

Status gather_elements(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(const std::string flat,
               element_positions(node, 1, node.type(0).sizes, static_cast<size_t>(axis)));
  const std::string line = node.let(reshaped(x, {product(node.type(0).sizes)}));
  return node.result(0, fmt::format("gather({}, {})", line, flat));
}

Status gather_nd(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t batch_dims, node.integer_attribute("batch_dims", 0));
  const Sizes& sizes = node.type(0).sizes;
  STRIA_ASSIGN(const RowPositions rows,
               row_positions(node, 1, sizes, static_cast<size_t>(batch_dims)));
  Sizes cut(sizes.begin() + static_cast<std::ptrdiff_t>(rows.dims), sizes.end());
  Sizes result = rows.sizes;
  result.insert(result.end(), cut.begin(), cut.end());
  cut.insert(cut.begin(), product(sizes, 0, rows.dims));
  const std::string flat = node.let(reshaped(x, cut));
  const std::string got = node.let(fmt::format("gather({}, {})", flat, rows.name));
  return node.result(0, reshaped(got, result));
}

// How many are kept is a size: the condition must be known.
Status compress(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::vector<int64_t> condition, node.integers(1));
  Sizes sizes = node.type(0).sizes;
  int64_t axis = 0;
  if (node.has_attribute("axis")) {
    STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
    STRIA_ASSIGN(axis, node.axis(written, node.rank(0)));
  } else {
    sizes = {product(sizes)};
    x = node.let(reshaped(x, sizes));
  }
  const int64_t size = sizes[static_cast<size_t>(axis)];
  Sizes kept;
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i]) kept.push_back(static_cast<int64_t>(i));
  if (static_cast<int64_t>(condition.size()) > size)
    return node.error(fmt::format("a condition of {} elements for {}", condition.size(), size));
  const auto count = static_cast<int64_t>(kept.size());
  STRIA_ASSIGN(HostTensor table, integer_table(kept, {count}));
  return node.result(0, taken(node, x, sizes, static_cast<size_t>(axis),
                              node.constant(std::move(table)), {count}));
}

}  // namespace stria::onnx::operators
