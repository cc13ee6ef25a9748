// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/nn/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stria::onnx {
namespace {

Status check_numbers(NodeWriter& node, std::string_view name, const Sizes& of, size_t count,
                     int64_t least) {
  if (of.size() != count)
    return node.error(
        fmt::format("{} are [{}], {} numbers are needed", name, fmt::join(of, ", "), count));
  for (const int64_t number : of)
    if (number < least || number > kMostOfWindow)
      return node.error(fmt::format("{} are [{}], the least is {}, the most {}", name,
                                    fmt::join(of, ", "), least, kMostOfWindow));
  return {};
}

// An attribute with a number for each axis; `otherwise` without it.
Result<Sizes> numbers(NodeWriter& node, std::string_view name, size_t count, int64_t otherwise,
                      int64_t least) {
  STRIA_ASSIGN(Sizes out, node.integers_attribute(name));
  if (out.empty()) out.assign(count, otherwise);
  STRIA_RETURN_IF_ERROR(check_numbers(node, name, out, count, least));
  return out;
}

int64_t ceil_of(int64_t dividend, int64_t divisor) {
  return dividend < 0 ? -(-dividend / divisor) : (dividend + divisor - 1) / divisor;
}

}  // namespace

Result<std::vector<Window>> windows_of(NodeWriter& node, const Sizes& input, const Sizes& kernel,
                                       const Sizes* given_pads) {
  const size_t axes = input.size();
  STRIA_ASSIGN(const Sizes strides, numbers(node, "strides", axes, 1, 1));
  STRIA_ASSIGN(const Sizes dilations, numbers(node, "dilations", axes, 1, 1));
  Sizes pads;
  if (given_pads) {
    pads = *given_pads;
    STRIA_RETURN_IF_ERROR(check_numbers(node, "pads", pads, 2 * axes, 0));
  } else {
    STRIA_ASSIGN(pads, numbers(node, "pads", 2 * axes, 0, 0));
  }
  for (size_t d = 0; d < axes; ++d)
    if (kernel[d] > kMostOfWindow || input[d] > int64_t{1} << 32)
      return node.error(fmt::format("a kernel of {} on {} elements", kernel[d], input[d]));
  std::vector<Window> out(axes);
  for (size_t d = 0; d < axes; ++d)
    out[d] = {input[d], kernel[d], strides[d], dilations[d], pads[d], pads[axes + d], 0};
  return out;
}

Status place_windows(NodeWriter& node, std::vector<Window>& windows) {
  STRIA_ASSIGN(const std::string automatic, node.string_attribute("auto_pad", "NOTSET"));
  STRIA_ASSIGN(const int64_t ceil_mode, node.integer_attribute("ceil_mode", 0));
  const bool upper = automatic == "SAME_UPPER", lower = automatic == "SAME_LOWER";
  if (!upper && !lower && automatic != "NOTSET" && automatic != "VALID")
    return node.error(fmt::format("auto_pad is '{}'", automatic));
  for (Window& of : windows) {
    if (automatic == "VALID") of.pad_begin = of.pad_end = 0;
    if (upper || lower) {
      of.output = ceil_of(of.input, of.stride);
      const int64_t pads = std::max<int64_t>((of.output - 1) * of.stride + of.span() - of.input, 0);
      of.pad_begin = upper ? pads / 2 : pads - pads / 2;
      of.pad_end = pads - of.pad_begin;
      continue;
    }
    const int64_t room = of.input + of.pad_begin + of.pad_end - of.span();
    if (room < 0)
      return node.error(fmt::format("a kernel that spans {} elements on {} with pads of {} and {}",
                                    of.span(), of.input, of.pad_begin, of.pad_end));
    of.output = (ceil_mode ? ceil_of(room, of.stride) : room / of.stride) + 1;
    // No window begins behind the input.
    if (ceil_mode && (of.output - 1) * of.stride >= of.input + of.pad_begin) --of.output;
  }
  return {};
}

Result<Sizes> kernel_shape(NodeWriter& node, size_t axes) {
  if (!node.has_attribute("kernel_shape")) return node.error("it has no kernel_shape");
  return numbers(node, "kernel_shape", axes, 1, 1);
}

Forms window_forms(const std::vector<Window>& windows) {
  Forms out;
  for (size_t d = 0; d < windows.size(); ++d)
    out.push_back(affine(
        {{windows[d].stride, fmt::format("y{}", d)}, {windows[d].dilation, fmt::format("k{}", d)}},
        -windows[d].pad_begin));
  return out;
}

Sizes output_sizes(const std::vector<Window>& windows) {
  Sizes out;
  for (const Window& of : windows) out.push_back(of.output);
  return out;
}

}  // namespace stria::onnx
