// SPDX-License-Identifier: Apache-2.0
// Slice: a range of each axis, in steps that may go backwards.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status slice(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  Sizes starts, ends, axes, steps;
  if (node.version() < 10) {
    STRIA_ASSIGN(starts, node.integers_attribute("starts"));
    STRIA_ASSIGN(ends, node.integers_attribute("ends"));
    STRIA_ASSIGN(axes, node.integers_attribute("axes"));
  } else {
    STRIA_ASSIGN(starts, node.integers(1));
    STRIA_ASSIGN(ends, node.integers(2));
    if (node.has(3)) {
      STRIA_ASSIGN(axes, node.integers(3));
    }
    if (node.has(4)) {
      STRIA_ASSIGN(steps, node.integers(4));
    }
  }
  if (axes.empty())
    for (size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return node.error(fmt::format("{} starts, {} ends, {} axes and {} steps", starts.size(),
                                  ends.size(), axes.size(), steps.size()));
  const Sizes& sizes = node.type(0).sizes;
  const std::vector<std::string> to = index_list(sizes.size());
  std::vector<std::string> from = to;
  Sizes result = sizes;
  std::vector<bool> seen(sizes.size());
  for (size_t k = 0; k < starts.size(); ++k) {
    STRIA_ASSIGN(const int64_t axis, node.axis(axes[k], node.rank(0)));
    const auto d = static_cast<size_t>(axis);
    if (seen[d]) return node.error(fmt::format("axis {} stands twice", axis));
    seen[d] = true;
    const int64_t size = sizes[d], step = steps[k];
    if (step == 0) return node.error("a step of 0");
    // Backwards, "before the first element" is -1, which no number that counts from the end gives.
    const int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    const auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, least, most); };
    const int64_t start = std::max<int64_t>(place(starts[k]), 0), end = place(ends[k]);
    // Sizes fit in int64, and so do their differences; a step may be the least number of int64,
    // whose magnitude does not.
    const int64_t length = step > 0 ? end - start : start - end;
    const uint64_t stride =
        step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    const int64_t count =
        length <= 0 || size == 0
            ? 0
            : static_cast<int64_t>(static_cast<uint64_t>(length - 1) / stride) + 1;
    result[d] = count;
    if (count == 1)
      from[d] = std::to_string(start);
    else if (count > 1 && (start != 0 || step != 1))
      from[d] = fmt::format("{} {} {} * {}", start, step < 0 ? "-" : "+", stride, to[d]);
  }
  return node.result(0, moved(node, x, from, to, result));
}

}  // namespace stria::onnx::operators
