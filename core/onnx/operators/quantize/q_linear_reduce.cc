// SPDX-License-Identifier: Apache-2.0
// Means and softmax of quantized tensors, of com.microsoft.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/nn/pool.h"
#include "stria/onnx/operators/quantize/q_linear.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// The mean over `axes`, which stay as dimensions of 1 if `keep`.
Status q_linear_mean(NodeWriter& node, const std::vector<bool>& reduced, bool keep) {
  STRIA_ASSIGN(const std::string x, numbers_at(node, 0));
  const std::vector<int64_t>& sizes = node.type(0).sizes;
  std::vector<std::string> from, to;
  std::vector<int64_t> made, kept;
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    from.push_back(fmt::format("i{}", d));
    to.push_back(reduced[d] ? "0" : from.back());
    made.push_back(reduced[d] ? 1 : sizes[d]);
    if (reduced[d])
      count *= sizes[d];
    else
      kept.push_back(sizes[d]);
  }
  const std::string sum = node.fresh();
  node.line(fmt::format("{}[{} : {}] = +({}[{}]);", sum, fmt::join(to, ", "), fmt::join(made, ", "),
                        x, fmt::join(from, ", ")));
  const std::string shaped = keep ? sum : node.let(reshaped(sum, kept));
  return quantized_result(node, fmt::format("{} / {}", shaped, number(static_cast<double>(count))),
                          3, 0);
}

}  // namespace

Status q_linear_global_average_pool(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  STRIA_ASSIGN(const int64_t channels_last, node.integer_attribute("channels_last", 0));
  const size_t rank = node.type(0).sizes.size();
  if (rank < 3) return node.error(fmt::format("its input has rank {}", rank));
  std::vector<bool> reduced(rank, true);
  reduced[0] = reduced[channels_last ? rank - 1 : 1] = false;
  return q_linear_mean(node, reduced, true);
}

Status q_linear_reduce_mean(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  STRIA_ASSIGN(const std::vector<int64_t> axes, node.integers_attribute("axes"));
  STRIA_ASSIGN(const int64_t keep, node.integer_attribute("keepdims", 1));
  std::vector<bool> reduced(node.type(0).sizes.size(), axes.empty());
  for (const int64_t written : axes) {
    STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
    reduced[static_cast<size_t>(axis)] = true;
  }
  return q_linear_mean(node, reduced, keep != 0);
}

Status q_linear_average_pool(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, numbers_at(node, 0));
  STRIA_ASSIGN(const int64_t channels_last, node.integer_attribute("channels_last", 0));
  STRIA_ASSIGN(const Pooling of, pool_of(node, x, false, channels_last != 0));
  STRIA_ASSIGN(const std::string mean, averaged(node, of));
  return quantized_result(node, mean, 3, 0);
}

// Before opset 13, which an attribute says here, all dimensions from the axis on are one.
Status q_linear_softmax(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, numbers_at(node, 0));
  STRIA_ASSIGN(const int64_t opset, node.integer_attribute("opset", 13));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", -1));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  const std::vector<int64_t>& sizes = node.type(0).sizes;
  int64_t before = 1, along = 1, behind = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto at = static_cast<int64_t>(d);
    (at < axis ? before : at == axis || opset < 13 ? along : behind) *= sizes[d];
  }
  const std::string cube = node.let(reshaped(x, {before, along, behind}));
  const std::string top = node.fresh(), sum = node.fresh();
  node.line(fmt::format("{}[b, 0, c : {}, 1, {}] = >({}[b, a, c]);", top, before, behind, cube));
  const std::string parts = node.let(fmt::format("exp({} - {})", cube, top));
  node.line(fmt::format("{}[b, 0, c : {}, 1, {}] = +({}[b, a, c]);", sum, before, behind, parts));
  const std::string all = node.let(fmt::format("{} / {}", parts, sum));
  return quantized_result(node, reshaped(all, sizes), 3, 0);
}

}  // namespace stria::onnx::operators
