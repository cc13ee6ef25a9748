// SPDX-License-Identifier: Apache-2.0
// Transpose, DepthToSpace and SpaceToDepth: axes in another order, of the tensor or of its blocks.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

constexpr int64_t kLargestBlock = int64_t{1} << 15;

struct Blocks {
  int64_t size = 1;
  bool depth_first = true;  // DCR: the block's place counts more than the channel
};

Result<Blocks> blocks_of(NodeWriter& node) {
  Blocks out;
  STRIA_ASSIGN(out.size, node.integer_attribute("blocksize", 0));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", "DCR"));
  if (out.size < 1 || out.size > kLargestBlock)
    return node.error(fmt::format("a block of size {}; 1 to {}", out.size, kLargestBlock));
  if (mode != "DCR" && mode != "CRD") return node.error(fmt::format("mode '{}'", mode));
  if (node.rank(0) != 4) return node.error(fmt::format("a tensor of rank {}", node.rank(0)));
  out.depth_first = mode == "DCR";
  return out;
}

// A size that becomes as many times larger. One beside a size of 0 may be any number.
Result<int64_t> enlarged(const NodeWriter& node, int64_t size, int64_t times) {
  int64_t out = 0;
  if (__builtin_mul_overflow(size, times, &out))
    return node.error(fmt::format("{} * {} elements leave 64 bits", size, times));
  return out;
}

}  // namespace

Status transpose(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(Sizes axes, node.integers_attribute("perm"));
  const auto rank = static_cast<size_t>(node.rank(0));
  if (axes.empty())
    for (size_t d = rank; d-- > 0;) axes.push_back(static_cast<int64_t>(d));
  Sizes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool right = axes.size() == rank;
  for (size_t d = 0; right && d < rank; ++d) right = sorted[d] == static_cast<int64_t>(d);
  if (!right) return node.error(fmt::format("[{}] is no order of {} axes", list_text(axes), rank));
  return node.result(0, transposed(node, x, axes, node.type(0).sizes));
}

Status depth_to_space(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Blocks blocks, blocks_of(node));
  const Sizes& s = node.type(0).sizes;
  const int64_t b = blocks.size, c = s[1] / (b * b);
  if (s[1] % (b * b) != 0)
    return node.error(fmt::format("{} channels for blocks of {} x {}", s[1], b, b));
  const Sizes parts =
      blocks.depth_first ? Sizes{s[0], b, b, c, s[2], s[3]} : Sizes{s[0], c, b, b, s[2], s[3]};
  const Sizes order = blocks.depth_first ? Sizes{0, 3, 4, 1, 5, 2} : Sizes{0, 1, 4, 2, 5, 3};
  const std::string cut = node.let(reshaped(x, parts));
  const std::string turned = transposed(node, cut, order, parts);
  STRIA_ASSIGN(const int64_t height, enlarged(node, s[2], b));
  STRIA_ASSIGN(const int64_t width, enlarged(node, s[3], b));
  return node.result(0, reshaped(turned, {s[0], c, height, width}));
}

Status space_to_depth(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Blocks blocks, blocks_of(node));
  const Sizes& s = node.type(0).sizes;
  const int64_t b = blocks.size;
  if (s[2] % b != 0 || s[3] % b != 0)
    return node.error(fmt::format("{} x {} elements for blocks of {} x {}", s[2], s[3], b, b));
  const Sizes parts = {s[0], s[1], s[2] / b, b, s[3] / b, b};
  const Sizes order = blocks.depth_first ? Sizes{0, 3, 5, 1, 2, 4} : Sizes{0, 1, 3, 5, 2, 4};
  const std::string cut = node.let(reshaped(x, parts));
  const std::string turned = transposed(node, cut, order, parts);
  STRIA_ASSIGN(const int64_t channels, enlarged(node, s[1], b * b));
  return node.result(0, reshaped(turned, {s[0], channels, s[2] / b, s[3] / b}));
}

}  // namespace stria::onnx::operators
