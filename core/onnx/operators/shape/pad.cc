// SPDX-License-Identifier: Apache-2.0
// Pad and CenterCropPad: elements around a tensor, or fewer of it.
#include <fmt/format.h>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

constexpr int64_t kMostAdded = int64_t{1} << 40;

struct Pads {
  Sizes before, after;
};

// x with elements of `rest`, a tensor of rank 0 or a constant, around it. Negative pads take away.
std::string padded(NodeWriter& node, const std::string& x, const Sizes& from, const Pads& pads,
                   const std::string& rest) {
  const std::vector<std::string> in = index_list(from.size());
  std::vector<std::string> out = in;
  Sizes sizes = from;
  for (size_t d = 0; d < from.size(); ++d) {
    sizes[d] += pads.before[d] + pads.after[d];
    if (pads.before[d] != 0) out[d] = fmt::format("{} + {}", in[d], pads.before[d]);
  }
  return moved(node, x, in, out, sizes, " default " + rest);
}

// Where an element beside the tensor comes from. `at` < 0 or >= size.
int64_t mirrored(const std::string& mode, int64_t at, int64_t size) {
  if (mode == "edge") return at < 0 ? 0 : size - 1;
  const int64_t period = mode == "wrap" || size == 1 ? size : 2 * (size - 1);
  const int64_t inside = (at % period + period) % period;
  return inside < size ? inside : period - inside;
}

Result<Pads> pads_of(NodeWriter& node) {
  const auto rank = static_cast<size_t>(node.rank(0));
  Sizes written, axes;
  // com.microsoft's has inputs in every version.
  if (node.version() < 11 && node.node().domain != "com.microsoft") {
    STRIA_ASSIGN(written, node.integers_attribute(node.version() < 2 ? "paddings" : "pads"));
  } else {
    STRIA_ASSIGN(written, node.integers(1));
  }
  if (node.has(3)) {
    STRIA_ASSIGN(axes, node.integers(3));
  } else {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  if (written.size() != 2 * axes.size())
    return node.error(fmt::format("{} pads for {} axes", written.size(), axes.size()));
  Pads pads{Sizes(rank, 0), Sizes(rank, 0)};
  for (size_t k = 0; k < axes.size(); ++k) {
    STRIA_ASSIGN(const int64_t axis, node.axis(axes[k], node.rank(0)));
    const auto d = static_cast<size_t>(axis);
    for (const int64_t count : {written[k], written[k + axes.size()]})
      if (count > kMostAdded || count < -kMostAdded)
        return node.error(fmt::format("axis {} has a pad of {}", axis, count));
    pads.before[d] = written[k];
    pads.after[d] = written[k + axes.size()];
    if (node.type(0).sizes[d] + pads.before[d] + pads.after[d] < 0)
      return node.error(fmt::format("axis {} of {} elements has pads {} and {}", axis,
                                    node.type(0).sizes[d], pads.before[d], pads.after[d]));
  }
  return pads;
}

}  // namespace

Status pad(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  STRIA_ASSIGN(const Pads pads, pads_of(node));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", "constant"));
  Sizes sizes = node.type(0).sizes;
  if (mode == "constant") {
    std::string rest;
    if (node.has(2)) {
      STRIA_ASSIGN(const std::string value, node.tensor(2));
      Sizes all = sizes;
      for (size_t d = 0; d < all.size(); ++d) all[d] += pads.before[d] + pads.after[d];
      rest = moved(node, value, std::vector<std::string>(static_cast<size_t>(node.rank(2)), "0"),
                   index_list(all.size()), all);
    } else {
      STRIA_ASSIGN(const float value, node.float_attribute("value", 0));
      rest = node.let(value == 0 ? "0" : literal(static_cast<double>(value)));
    }
    return node.result(0, padded(node, x, sizes, pads, rest));
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    return node.error(fmt::format("mode '{}'", mode));
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (pads.before[d] == 0 && pads.after[d] == 0) continue;
    const int64_t size = sizes[d];
    STRIA_RETURN_IF_ERROR(check_table(node, fmt::format("mode '{}' of axis {}", mode, d),
                                      {size + pads.before[d] + pads.after[d]}));
    Sizes from;
    for (int64_t at = -pads.before[d]; at < size + pads.after[d]; ++at) {
      if (size == 0) return node.error(fmt::format("mode '{}' of no elements", mode));
      from.push_back(at >= 0 && at < size ? at : mirrored(mode, at, size));
    }
    const auto count = static_cast<int64_t>(from.size());
    STRIA_ASSIGN(HostTensor table, integer_table(from, {count}));
    x = taken(node, x, sizes, d, node.constant(std::move(table)), {count});
    sizes[d] = count;
  }
  return node.result(0, x);
}

Status center_crop_pad(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Sizes shape, node.integers(1));
  STRIA_ASSIGN(Sizes axes, node.integers_attribute("axes"));
  const Sizes& sizes = node.type(0).sizes;
  if (axes.empty())
    for (size_t d = 0; d < sizes.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  if (axes.size() != shape.size())
    return node.error(fmt::format("{} sizes for {} axes", shape.size(), axes.size()));
  Pads pads{Sizes(sizes.size(), 0), Sizes(sizes.size(), 0)};
  for (size_t k = 0; k < axes.size(); ++k) {
    STRIA_ASSIGN(const int64_t axis, node.axis(axes[k], node.rank(0)));
    const auto d = static_cast<size_t>(axis);
    const int64_t more = shape[k] - sizes[d];
    if (shape[k] < 0) return node.error(fmt::format("a size of {}", shape[k]));
    // Of an odd number, the larger half lies behind, whether taken away or added.
    pads.before[d] = more / 2;
    pads.after[d] = more - more / 2;
  }
  return node.result(0, padded(node, x, sizes, pads, node.let("0")));
}

}  // namespace stria::onnx::operators
