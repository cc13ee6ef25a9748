// SPDX-License-Identifier: Apache-2.0
// Split: a tensor in parts along an axis.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status split(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const Sizes& sizes = node.type(0).sizes;
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  const int64_t size = sizes[static_cast<size_t>(axis)];
  Sizes parts;
  if (node.has(1)) {
    STRIA_ASSIGN(parts, node.integers(1));
  } else {
    STRIA_ASSIGN(parts, node.integers_attribute("split"));
  }
  if (parts.empty()) {
    STRIA_ASSIGN(const int64_t count, node.integer_attribute("num_outputs", node.output_count()));
    if (count < 1 || count < node.output_count())
      return node.error(fmt::format("{} parts for {} outputs", count, node.output_count()));
    const int64_t most = size / count + (size % count != 0);
    for (int64_t p = 0; p < node.output_count(); ++p)
      parts.push_back(std::clamp<int64_t>(size - std::min(p * most, size), 0, most));
  } else {
    int64_t all = 0;
    for (const int64_t part : parts) {
      if (part < 0 || part > size) return node.error(fmt::format("a part of {} elements", part));
      if (part > size - all)
        return node.error(
            fmt::format("parts of [{}] are more than {} elements", list_text(parts), size));
      all += part;
    }
    if (all != size || static_cast<int>(parts.size()) < node.output_count())
      return node.error(fmt::format("parts of [{}] do not make {} outputs of {} elements",
                                    list_text(parts), node.output_count(), size));
  }
  int64_t begin = 0;
  for (int k = 0; k < node.output_count(); ++k) {
    const int64_t part = parts[static_cast<size_t>(k)];
    if (node.wants(k))
      STRIA_RETURN_IF_ERROR(
          node.result(k, sliced(node, x, sizes, static_cast<size_t>(axis), begin, 1, part)));
    begin += part;
  }
  return {};
}

}  // namespace stria::onnx::operators
