// SPDX-License-Identifier: Apache-2.0
// Col2Im and MaxUnpool: what windows took from an image goes back there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx::operators {

Status col2im(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Sizes image, node.integers(1));
  STRIA_ASSIGN(const Sizes block, node.integers(2));
  const size_t rank = image.size();
  STRIA_ASSIGN(const Sizes dilations, node.integers_attribute("dilations", Sizes(rank, 1)));
  STRIA_ASSIGN(const Sizes pads, node.integers_attribute("pads", Sizes(2 * rank, 0)));
  STRIA_ASSIGN(const Sizes strides, node.integers_attribute("strides", Sizes(rank, 1)));
  const Sizes& sizes = node.type(0).sizes;
  if (block.size() != rank || dilations.size() != rank || pads.size() != 2 * rank ||
      strides.size() != rank || sizes.size() != 3)
    return node.error(
        fmt::format("columns of rank {} for an image of {} axes", sizes.size(), rank));
  const int64_t window = product(block);
  Sizes parts = {sizes[0], window == 0 ? 0 : sizes[1] / window}, result = parts;
  std::vector<std::string> from = {"b", "c"}, to = {"b", "c"};
  int64_t steps = 1;
  Sizes counts;
  for (size_t d = 0; d < rank; ++d) {
    if (block[d] < 1 || dilations[d] < 1 || strides[d] < 1)
      return node.error(
          fmt::format("axis {} has a block of {}, a dilation of {} and a stride of {}", d, block[d],
                      dilations[d], strides[d]));
    const int64_t room = image[d] + pads[d] + pads[d + rank] - dilations[d] * (block[d] - 1) - 1;
    counts.push_back(room < 0 ? 0 : room / strides[d] + 1);
    steps *= counts.back();
    parts.push_back(block[d]);
    result.push_back(image[d]);
    from.push_back(fmt::format("k{}", d));
    to.push_back(fmt::format("{} * s{} + {} * k{} - {}", strides[d], d, dilations[d], d, pads[d]));
  }
  if (parts[1] * window != sizes[1] || steps != sizes[2])
    return node.error(fmt::format("columns of sizes [{}] for windows of [{}] at [{}] places",
                                  list_text(sizes), list_text(block), list_text(counts)));
  for (size_t d = 0; d < rank; ++d) {
    parts.push_back(counts[d]);
    from.push_back(fmt::format("s{}", d));
  }
  const std::string cut = node.let(reshaped(x, parts));
  const std::string y = node.fresh();
  node.line(fmt::format("{}[{} : {}] = +({}[{}]);", y, fmt::join(to, ", "), list_text(result), cut,
                        fmt::join(from, ", ")));
  return node.result(0, stria::onnx::cast(y, node.type(0).type));
}

Status max_unpool(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string places, node.tensor(1));
  const Sizes& sizes = node.type(0).sizes;
  const size_t rank = sizes.size() < 3 ? 0 : sizes.size() - 2;
  STRIA_ASSIGN(const Sizes kernel, node.integers_attribute("kernel_shape"));
  STRIA_ASSIGN(const Sizes strides, node.integers_attribute("strides", Sizes(rank, 1)));
  STRIA_ASSIGN(const Sizes pads, node.integers_attribute("pads", Sizes(2 * rank, 0)));
  if (rank == 0 || kernel.size() != rank || strides.size() != rank || pads.size() != 2 * rank ||
      node.type(1).sizes != sizes)
    return node.error(fmt::format("a kernel of {} axes, and places of sizes [{}], for [{}]",
                                  kernel.size(), list_text(node.type(1).sizes), list_text(sizes)));
  // The places are those of the tensor that was pooled, before it grows to output_shape.
  Sizes pooled = {sizes[0], sizes[1]};
  bool overlap = false;
  for (size_t d = 0; d < rank; ++d) {
    pooled.push_back((sizes[d + 2] - 1) * strides[d] - pads[d] - pads[d + rank] + kernel[d]);
    if (pooled.back() < 0)
      return node.error(fmt::format("axis {} has {} elements", d + 2, pooled.back()));
    overlap = overlap || strides[d] < kernel[d];
  }
  Sizes result = pooled;
  if (node.has(2)) {
    STRIA_ASSIGN(result, node.integers(2));
  }
  bool fits = result.size() == pooled.size();
  for (size_t d = 0; fits && d < pooled.size(); ++d) fits = result[d] >= pooled[d];
  if (!fits)
    return node.error(
        fmt::format("output_shape [{}] for [{}]", list_text(result), list_text(pooled)));
  const int64_t count = product(sizes), room = product(pooled);
  const std::string line = node.let(reshaped(x, {count}));
  const std::string place = node.let(reshaped(places, {count}));
  STRIA_ASSIGN(HostTensor zero, number_table(DataType::i32, {0}, {}));
  const std::string rows = moved(node, node.constant(std::move(zero)), {}, {"p"}, {room});
  std::string y;
  if (overlap) {
    // Windows that overlap may have taken one element several times: one of them gives it back.
    const std::string numbers = node.let(fmt::format("index({}, 0) + 1", place));
    const std::string earlier = node.fresh();
    node.line(
        fmt::format("{0}[u : {1}] = +({2}[u] == {2}[v]), u - v - 1 < {1};", earlier, count, place));
    const std::string once = node.let(fmt::format("{} == 0 ? {} : -1", earlier, place));
    const std::string from = node.let(fmt::format("scatter({}, {}, {})", numbers, once, rows));
    y = node.let(fmt::format("gather_or_zero({}, {} - 1)", line, from));
  } else {
    y = node.let(fmt::format("scatter({}, {}, {})", line, place, rows));
  }
  y = node.let(reshaped(stria::onnx::cast(y, node.type(0).type), pooled));
  if (result != pooled) {
    const std::vector<std::string> at = index_list(pooled.size());
    y = moved(node, y, at, at, result, " default " + node.let("0"));
  }
  return node.result(0, y);
}

}  // namespace stria::onnx::operators
