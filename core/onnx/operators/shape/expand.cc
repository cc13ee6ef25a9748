// SPDX-License-Identifier: Apache-2.0
// Expand and Tile: a tensor repeated along axes.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status expand(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Sizes shape, node.integers(1));
  const Sizes& from = node.type(0).sizes;
  Sizes sizes(std::max(from.size(), shape.size()), 1);
  std::copy(from.begin(), from.end(), sizes.end() - static_cast<std::ptrdiff_t>(from.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t& size = sizes[sizes.size() - shape.size() + d];
    if (shape[d] < 0 || (size != shape[d] && size != 1 && shape[d] != 1))
      return node.error(
          fmt::format("sizes [{}] do not broadcast with [{}]", list_text(from), list_text(shape)));
    if (size == 1) size = shape[d];
  }
  return node.result(0, expanded(node, x, from, sizes));
}

Status tile(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const Sizes& from = node.type(0).sizes;
  Sizes repeats;
  if (node.version() < 6) {
    repeats.assign(from.size(), 1);
    STRIA_ASSIGN(const int64_t count, node.integer(1));
    STRIA_ASSIGN(const int64_t written, node.integer(2));
    STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
    repeats[static_cast<size_t>(axis)] = count;
  } else {
    STRIA_ASSIGN(repeats, node.integers(1));
  }
  if (repeats.size() != from.size())
    return node.error(
        fmt::format("{} repeats for a tensor of rank {}", repeats.size(), from.size()));
  std::vector<std::string> in = index_list(from.size()), out = in;
  Sizes sizes = from;
  for (size_t d = 0; d < from.size(); ++d) {
    if (repeats[d] < 0) return node.error(fmt::format("axis {} repeats {} times", d, repeats[d]));
    if (__builtin_mul_overflow(sizes[d], repeats[d], &sizes[d]))
      return node.error(
          fmt::format("axis {} repeats {} times, which 64 bits do not count", d, repeats[d]));
    if (from[d] == 1)
      in[d] = "0";
    else if (repeats[d] != 1)
      out[d] = fmt::format("{} + {} * r{}", in[d], from[d], d);
  }
  return node.result(0, moved(node, x, in, out, sizes));
}

}  // namespace stria::onnx::operators
