// SPDX-License-Identifier: Apache-2.0
// Squeeze, Unsqueeze, com.microsoft's ExpandDims, and Flatten: the same elements under other sizes.
#include <fmt/format.h>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Which of `rank` axes the node names: an input since version 13, an attribute before.
Result<std::vector<bool>> named_axes(NodeWriter& node, int64_t rank, size_t* count) {
  Sizes axes;
  if (node.has(1)) {
    STRIA_ASSIGN(axes, node.integers(1));
  } else {
    STRIA_ASSIGN(axes, node.integers_attribute("axes"));
  }
  // Each of Unsqueeze's axes is one more.
  if (rank < 0) rank = node.rank(0) + static_cast<int64_t>(axes.size());
  std::vector<bool> named(static_cast<size_t>(rank));
  for (const int64_t written : axes) {
    STRIA_ASSIGN(const int64_t axis, node.axis(written, rank));
    if (named[static_cast<size_t>(axis)])
      return node.error(fmt::format("axis {} stands twice", axis));
    named[static_cast<size_t>(axis)] = true;
  }
  *count = axes.size();
  return named;
}

}  // namespace

Status squeeze(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  size_t count = 0;
  STRIA_ASSIGN(const std::vector<bool> named, named_axes(node, node.rank(0), &count));
  Sizes sizes;
  for (size_t d = 0; d < named.size(); ++d) {
    const int64_t size = node.type(0).sizes[d];
    if (named[d] && size != 1)
      return node.error(fmt::format("axis {} has {} elements, not one", d, size));
    if (count > 0 ? !named[d] : size != 1) sizes.push_back(size);
  }
  return node.result(0, reshaped(x, sizes));
}

Status unsqueeze(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  size_t count = 0;
  STRIA_ASSIGN(const std::vector<bool> named, named_axes(node, -1, &count));
  Sizes sizes;
  size_t next = 0;
  for (const bool is_new : named) sizes.push_back(is_new ? 1 : node.type(0).sizes[next++]);
  return node.result(0, reshaped(x, sizes));
}

// One axis, which may be behind the last.
Status expand_dims(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t written, node.integer(1));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0) + 1));
  Sizes sizes = node.type(0).sizes;
  sizes.insert(sizes.begin() + axis, 1);
  return node.result(0, reshaped(x, sizes));
}

Status flatten(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 1));
  // The axis may be one behind the last.
  const int64_t rank = node.rank(0), axis = written < 0 ? written + rank : written;
  if (axis < 0 || axis > rank)
    return node.error(fmt::format("axis {} of a tensor of rank {}", written, rank));
  const Sizes& sizes = node.type(0).sizes;
  const auto at = static_cast<size_t>(axis);
  return node.result(0, reshaped(x, {product(sizes, 0, at), product(sizes, at, sizes.size())}));
}

}  // namespace stria::onnx::operators
