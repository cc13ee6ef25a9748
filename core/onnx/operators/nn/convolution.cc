// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose and com.microsoft's forms of them: one contraction each, with groups as an
// index. Padding is left out of the sums by the contraction's own bounds. Where channels stand
// last, accesses say so: nothing is moved.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stria/onnx/operators/activation.h"
#include "stria/onnx/operators/nn/convolution.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

Result<ChannelGroups> channel_groups(NodeWriter& node, int64_t inputs, int64_t outputs) {
  ChannelGroups out;
  STRIA_ASSIGN(out.groups, node.integer_attribute("group", 1));
  if (out.groups < 1 || inputs % out.groups != 0 || outputs % out.groups != 0)
    return node.error(fmt::format("{} channels to {} in {} groups", inputs, outputs, out.groups));
  out.inputs = inputs / out.groups;
  out.outputs = outputs / out.groups;
  const bool grouped = out.groups > 1;
  out.input_form = grouped ? affine({{out.inputs, "g"}, {out.inputs > 1, "ci"}}, 0) : "ci";
  out.output_form = grouped ? affine({{out.outputs, "g"}, {out.outputs > 1, "co"}}, 0) : "co";
  out.inner_input = grouped && out.inputs == 1 ? "0" : "ci";
  out.inner_output = grouped && out.outputs == 1 ? "0" : "co";
  // What keeps an index inside its group.
  if (grouped && out.inputs > 1) out.constraints.push_back(fmt::format("ci < {}", out.inputs));
  if (grouped && out.outputs > 1) out.constraints.push_back(fmt::format("co < {}", out.outputs));
  return out;
}

std::string with_bias(const std::string& sum, const std::string& bias, int64_t rank,
                      int64_t channels) {
  Sizes sizes(static_cast<size_t>(rank), 1);
  sizes[1] = channels;
  return fmt::format("{} + {}", sum, reshaped(bias, sizes));
}

namespace operators {
namespace {

// Where the channels of a tensor stand: behind the batch, or last.
enum class Channels : uint8_t { second, last };

int channel_axis(Channels channels, int rank) { return channels == Channels::last ? rank - 1 : 1; }

// What stands along each dimension of a tensor: sizes, or forms of an access.
template <typename T>
std::vector<T> in_order(Channels channels, T first, T channel, const std::vector<T>& spatial) {
  std::vector<T> out = {std::move(first)};
  out.insert(out.end(), spatial.begin(), spatial.end());
  out.insert(channels == Channels::last ? out.end() : out.begin() + 1, std::move(channel));
  return out;
}

Sizes spatial_sizes(Channels channels, const Sizes& sizes) {
  const std::ptrdiff_t first = channels == Channels::last ? 1 : 2;
  return {sizes.begin() + first, sizes.end() - (2 - first)};
}

// What Conv and ConvTranspose have in common.
struct ConvolutionOf {
  std::string x, w, bias;
  Sizes spatial, kernel;
  int bias_input = 2;
};

Result<ConvolutionOf> convolution_of(NodeWriter& node, int bias_input, Channels of_x = {},
                                     Channels of_w = {}) {
  ConvolutionOf out;
  out.bias_input = bias_input;
  STRIA_ASSIGN(out.x, node.tensor(0));
  STRIA_ASSIGN(out.w, node.tensor(1));
  if (node.has(bias_input)) {
    STRIA_ASSIGN(out.bias, node.tensor(bias_input));
  }
  const Sizes &x = node.type(0).sizes, &w = node.type(1).sizes;
  if (x.size() < 3 || x.size() != w.size())
    return node.error(
        fmt::format("an input of rank {} with weights of rank {}", x.size(), w.size()));
  out.spatial = spatial_sizes(of_x, x);
  out.kernel = spatial_sizes(of_w, w);
  STRIA_ASSIGN(const Sizes written, node.integers_attribute("kernel_shape", out.kernel));
  if (written != out.kernel)
    return node.error(fmt::format("kernel_shape is [{}], its weights have [{}]",
                                  fmt::join(written, ", "), fmt::join(out.kernel, ", ")));
  return out;
}

Result<std::string> finish_convolution(NodeWriter& node, const std::string& sum,
                                       const ConvolutionOf& of, int64_t count,
                                       Channels channels = {}) {
  if (of.bias.empty()) return sum;
  if (node.type(of.bias_input).sizes != Sizes{count})
    return node.error(fmt::format("its bias has [{}] elements for {} channels",
                                  fmt::join(node.type(of.bias_input).sizes, ", "), count));
  if (channels == Channels::last) return fmt::format("{} + {}", sum, of.bias);
  return with_bias(sum, of.bias, node.rank(0), count);
}

struct Convolved {
  std::string y;  // an expression
  Sizes sizes;
};

Result<Convolved> convolved(NodeWriter& node, Channels of_x = {}, Channels of_w = {}) {
  STRIA_ASSIGN(const ConvolutionOf of, convolution_of(node, 2, of_x, of_w));
  const int64_t outputs = node.size(1, 0);
  const int64_t inputs = node.size(0, channel_axis(of_x, node.rank(0)));
  const int64_t of_group = node.size(1, channel_axis(of_w, node.rank(1)));
  STRIA_ASSIGN(const ChannelGroups groups, channel_groups(node, inputs, outputs));
  if (of_group != groups.inputs)
    return node.error(
        fmt::format("weights for {} channels a group of {}", of_group, groups.inputs));
  STRIA_ASSIGN(std::vector<Window> windows, windows_of(node, of.spatial, of.kernel));
  STRIA_RETURN_IF_ERROR(place_windows(node, windows));
  const Forms y = indices("y", windows.size()), k = indices("k", windows.size());
  const std::string x =
      access(of.x, in_order<std::string>(of_x, "n", groups.input_form, window_forms(windows)));
  const std::string w = access(of.w, in_order(of_w, groups.output_form, groups.inner_input, k));
  Convolved out;
  out.sizes = in_order(of_x, node.size(0, 0), outputs, output_sizes(windows));
  const std::string sum =
      contract(node, '+', in_order<std::string>(of_x, "n", groups.output_form, y), out.sizes,
               x + " * " + w, groups.constraints);
  STRIA_ASSIGN(out.y, finish_convolution(node, sum, of, outputs, of_x));
  return out;
}

// A tensor of the result's sizes may be added, and an activation follows.
Status fused_result(NodeWriter& node, const Convolved& of) {
  std::string y = of.y;
  if (node.has(3)) {
    STRIA_ASSIGN(const std::string z, node.tensor(3));
    if (node.type(3).sizes != of.sizes)
      return node.error(fmt::format("input 3, which is added, has sizes [{}]; the result has [{}]",
                                    fmt::join(node.type(3).sizes, ", "),
                                    fmt::join(of.sizes, ", ")));
    y = fmt::format("{} + {}", y, z);
  }
  STRIA_ASSIGN(const std::string name, node.string_attribute("activation", ""));
  STRIA_ASSIGN(const std::vector<float> factors, node.floats_attribute("activation_params"));
  if (name.empty()) return node.result(0, y);
  if (name == "Clip" && factors.size() == 2)
    return node.result(
        0, fmt::format("max(min({}, {}), {})", y, literal(factors[1]), literal(factors[0])));
  std::optional<Activation> by = find_activation(name);
  if (!by) return node.not_supported(fmt::format("activation '{}'", name));
  if (!factors.empty()) by->alpha = factors[0];
  if (factors.size() > 1) by->beta = factors[1];
  return node.result(0, activated(*by, node.let(y)));
}

}  // namespace

Status convolution(NodeWriter& node) {
  STRIA_ASSIGN(const Convolved of, convolved(node));
  return node.result(0, of.y);
}

// com.microsoft's.
Status fused_convolution(NodeWriter& node) {
  STRIA_ASSIGN(const Convolved of, convolved(node));
  return fused_result(node, of);
}

// The weights have their channels last, too.
Status channels_last_convolution(NodeWriter& node) {
  STRIA_ASSIGN(const Convolved of, convolved(node, Channels::last, Channels::last));
  return node.result(0, of.y);
}

Status channels_last_fused_convolution(NodeWriter& node) {
  STRIA_ASSIGN(const Convolved of, convolved(node, Channels::last));
  return fused_result(node, of);
}

// The output's sizes follow from the pads, or the pads from output_shape.
static Status place_transposed(NodeWriter& node, std::vector<Window>& windows) {
  STRIA_ASSIGN(Sizes extra, node.integers_attribute("output_padding"));
  STRIA_ASSIGN(Sizes shape, node.integers_attribute("output_shape"));
  STRIA_ASSIGN(const std::string automatic, node.string_attribute("auto_pad", "NOTSET"));
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!same && automatic != "NOTSET" && automatic != "VALID")
    return node.error(fmt::format("auto_pad is '{}'", automatic));
  if (extra.empty()) extra.assign(windows.size(), 0);
  // Some writers give the batch and the channels, too.
  if (shape.size() == windows.size() + 2) shape.erase(shape.begin(), shape.begin() + 2);
  if (extra.size() != windows.size() || (!shape.empty() && shape.size() != windows.size()))
    return node.error(fmt::format("output_padding has {} numbers and output_shape {} for {} axes",
                                  extra.size(), shape.size(), windows.size()));
  for (const Sizes* const list : {&extra, &shape})
    for (const int64_t number : *list)
      if (number > kMostOfWindow || number < -kMostOfWindow)
        return node.error(fmt::format("{} of [{}]",
                                      list == &extra ? "output_padding" : "output_shape",
                                      fmt::join(*list, ", ")));
  for (size_t d = 0; d < windows.size(); ++d) {
    Window& of = windows[d];
    const int64_t all = (of.input - 1) * of.stride + of.span() + extra[d];
    if (automatic == "VALID") of.pad_begin = of.pad_end = 0;
    of.output = !shape.empty() ? shape[d] : same ? of.input * of.stride : -1;
    if (of.output >= 0) {
      const int64_t pads = std::max<int64_t>(all - of.output, 0);
      of.pad_begin = automatic == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
    } else {
      of.output = all - of.pad_begin - of.pad_end;
    }
    if (of.output < 0)
      return node.error(fmt::format("axis {} would have {} elements", d, of.output));
  }
  return {};
}

// `pads` stand for the attribute if given.
static Status transposed_by(NodeWriter& node, int bias_input, const Sizes* pads) {
  STRIA_ASSIGN(const ConvolutionOf of, convolution_of(node, bias_input));
  STRIA_ASSIGN(const int64_t group, node.integer_attribute("group", 1));
  const int64_t inputs = node.size(0, 1);
  if (group < 1 || group > inputs) return node.error(fmt::format("group is {}", group));
  if (node.size(1, 0) != inputs)
    return node.error(fmt::format("weights for {} channels of {}", node.size(1, 0), inputs));
  const int64_t outputs = node.size(1, 1) * group;  // no more than the weights have elements
  STRIA_ASSIGN(const ChannelGroups groups, channel_groups(node, inputs, outputs));
  STRIA_ASSIGN(std::vector<Window> windows, windows_of(node, of.spatial, of.kernel, pads));
  STRIA_RETURN_IF_ERROR(place_transposed(node, windows));
  const Forms y = indices("y", windows.size()), k = indices("k", windows.size());
  const std::string x = access(of.x, in_order<std::string>({}, "n", groups.input_form, y));
  const std::string w =
      access(of.w, in_order<std::string>({}, groups.input_form, groups.inner_output, k));
  const std::string sum =
      contract(node, '+', in_order<std::string>({}, "n", groups.output_form, window_forms(windows)),
               in_order<int64_t>({}, node.size(0, 0), outputs, output_sizes(windows)),
               x + " * " + w, groups.constraints);
  STRIA_ASSIGN(const std::string out, finish_convolution(node, sum, of, outputs));
  return node.result(0, out);
}

Status transposed_convolution(NodeWriter& node) { return transposed_by(node, 2, nullptr); }

// com.microsoft's: pads are an input, before the bias.
Status transposed_convolution_with_pads(NodeWriter& node) {
  if (!node.has(2)) return transposed_by(node, 3, nullptr);
  STRIA_ASSIGN(const Sizes pads, node.integers(2));
  return transposed_by(node, 3, &pads);
}

}  // namespace operators
}  // namespace stria::onnx
