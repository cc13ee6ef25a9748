// SPDX-License-Identifier: Apache-2.0
// DeformConv: the input is sampled where the offsets say, then a convolution sums the samples.
#include <fmt/format.h>

#include "stria/onnx/operators/nn/convolution.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Samples of x[N, C, H, W], which has rows [N * OG * H * W, C / OG] in `rows`, at the coordinates
// `at` of [N, OG, KH, KW, OH, OW]: [N, OG, KH, KW, OH, OW, C / OG]. Zeros lie around the input.
std::string bilinear_samples(NodeWriter& node, const std::string& rows, const std::string (&at)[2],
                             const Sizes& sizes, int64_t groups, const Sizes& positions) {
  const int64_t height = sizes[2], width = sizes[3];
  Sizes spread = positions;
  spread.push_back(1);
  std::string low[2], part[2];
  for (int axis = 0; axis < 2; ++axis) {
    low[axis] = node.let(fmt::format("floor({})", at[axis]));
    part[axis] = node.let(reshaped(node.let(fmt::format("{} - {}", at[axis], low[axis])), spread));
    low[axis] = node.let(fmt::format("as_int({}, 32)", low[axis]));
  }
  std::string out;
  for (int corner = 0; corner < 4; ++corner) {
    const int down = corner / 2, right = corner % 2;
    const std::string y = fmt::format("({} + {})", low[0], down);
    const std::string x = fmt::format("({} + {})", low[1], right);
    const std::string row =
        node.let(fmt::format("{0} >= 0 && {0} < {2} && {1} >= 0 && {1} < {3} ? "
                             "((index({4}, 0) * {5} + index({4}, 1)) * {2} + {0}) * {3} + {1} : -1",
                             y, x, height, width, at[0], groups));
    out += fmt::format("{}gather_or_zero({}, {}) * {} * {}", corner ? " + " : "", rows, row,
                       down ? part[0] : fmt::format("(1 - {})", part[0]),
                       right ? part[1] : fmt::format("(1 - {})", part[1]));
  }
  return node.let(out);
}

}  // namespace

Status deformable_convolution(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string w, node.tensor(1));
  STRIA_ASSIGN(const std::string offset, node.tensor(2));
  const DataType type = node.type(0).type;
  const Sizes &sizes = node.type(0).sizes, &weights = node.type(1).sizes;
  if (sizes.size() != 4 || weights.size() != 4)
    return node.not_supported(
        fmt::format("inputs of rank {}; only images, of rank 4", sizes.size()));
  const Sizes kernel(weights.begin() + 2, weights.end());
  STRIA_ASSIGN(const ChannelGroups groups, channel_groups(node, sizes[1], weights[0]));
  STRIA_ASSIGN(std::vector<Window> windows, windows_of(node, {sizes[2], sizes[3]}, kernel));
  STRIA_RETURN_IF_ERROR(place_windows(node, windows));
  STRIA_ASSIGN(const int64_t parts, node.integer_attribute("offset_group", 1));
  if (parts < 1 || sizes[1] % parts != 0)
    return node.error(fmt::format("{} channels in {} groups of offsets", sizes[1], parts));
  const int64_t images = sizes[0], channels = sizes[1] / parts;
  const Sizes positions = {images,           parts, kernel[0], kernel[1], windows[0].output,
                           windows[1].output};
  const Sizes wanted = {images, parts * kernel[0] * kernel[1] * 2, positions[4], positions[5]};
  if (node.type(2).sizes != wanted) return node.error("its offsets have other sizes");
  const std::string both = node.let(reshaped(
      wide(offset, type), {images, parts, kernel[0], kernel[1], 2, positions[4], positions[5]}));
  std::string at[2];
  for (int axis = 0; axis < 2; ++axis) {
    const Window& window = windows[static_cast<size_t>(axis)];
    const std::string shift = contract(node, '=', {"n", "g", "u", "v", "y", "x"}, positions,
                                       fmt::format("{}[n, g, u, v, {}, y, x]", both, axis));
    at[axis] =
        node.let(fmt::format("{0} + (index({0}, {1}) * {2} + index({0}, {3}) * {4} - {5})", shift,
                             4 + axis, window.stride, 2 + axis, window.dilation, window.pad_begin));
  }
  // The channels that are sampled together lie behind each other.
  const std::string turned = contract(
      node, '=', {"n", "g", "y", "x", "c"}, {images, parts, sizes[2], sizes[3], channels},
      fmt::format("{}[n, {} * g + c, y, x]", x, channels), {fmt::format("c < {}", channels)});
  const std::string rows =
      node.let(reshaped(wide(turned, type), {images * parts * sizes[2] * sizes[3], channels}));
  std::string samples = bilinear_samples(node, rows, at, sizes, parts, positions);
  if (node.has(4)) {
    STRIA_ASSIGN(const std::string mask, node.tensor(4));
    if (element_count(node.type(4).sizes) != element_count(positions))
      return node.error("its mask has other sizes");
    Sizes spread = positions;
    spread.push_back(1);
    samples = node.let(fmt::format("{} * {}", samples, reshaped(wide(mask, type), spread)));
  }
  Sizes columns = positions;
  columns[1] = sizes[1];
  const std::string sampled =
      contract(node, '=', {"n", fmt::format("{} * g + c", channels), "u", "v", "y", "x"}, columns,
               samples + "[n, g, u, v, y, x, c]");
  std::string out =
      contract(node, '+', {"n", groups.output_form, "y", "x"},
               {images, weights[0], positions[4], positions[5]},
               fmt::format("{}[n, {}, u, v, y, x] * {}[{}, {}, u, v]", sampled, groups.input_form,
                           type == wide_type(type) ? w : node.let(wide(w, type)),
                           groups.output_form, groups.inner_input),
               groups.constraints);
  if (node.has(3)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(3));
    out = "(" + with_bias(out, wide(bias, type), 4, weights[0]) + ")";
  }
  return node.result(0, narrow(out, type));
}

}  // namespace stria::onnx::operators
