// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose and com.microsoft's FusedConv: one contraction each, with groups as an
// index. Padding is left out of the sums by the contraction's own bounds.
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

// What Conv and ConvTranspose have in common.
struct ConvolutionOf {
  std::string x, w, bias;
  Sizes spatial, kernel;
};

Result<ConvolutionOf> convolution_of(NodeWriter& node) {
  ConvolutionOf out;
  STRIA_ASSIGN(out.x, node.tensor(0));
  STRIA_ASSIGN(out.w, node.tensor(1));
  if (node.has(2)) {
    STRIA_ASSIGN(out.bias, node.tensor(2));
  }
  const Sizes &x = node.type(0).sizes, &w = node.type(1).sizes;
  if (x.size() < 3 || x.size() != w.size())
    return node.error(
        fmt::format("an input of rank {} with weights of rank {}", x.size(), w.size()));
  out.spatial.assign(x.begin() + 2, x.end());
  out.kernel.assign(w.begin() + 2, w.end());
  STRIA_ASSIGN(const Sizes written, node.integers_attribute("kernel_shape", out.kernel));
  if (written != out.kernel)
    return node.error(fmt::format("kernel_shape is [{}], its weights have [{}]",
                                  fmt::join(written, ", "), fmt::join(out.kernel, ", ")));
  return out;
}

Result<std::string> finish_convolution(NodeWriter& node, const std::string& sum,
                                       const std::string& bias, int64_t channels) {
  if (bias.empty()) return sum;
  if (node.type(2).sizes != Sizes{channels})
    return node.error(fmt::format("its bias has [{}] elements for {} channels",
                                  fmt::join(node.type(2).sizes, ", "), channels));
  return with_bias(sum, bias, node.rank(0), channels);
}

Forms join_forms(Forms first, const Forms& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Sizes join_sizes(Sizes first, const Sizes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Result<std::string> convolved(NodeWriter& node) {
  STRIA_ASSIGN(const ConvolutionOf of, convolution_of(node));
  const int64_t outputs = node.size(1, 0);
  STRIA_ASSIGN(const ChannelGroups groups, channel_groups(node, node.size(0, 1), outputs));
  if (node.size(1, 1) != groups.inputs)
    return node.error(
        fmt::format("weights for {} channels a group of {}", node.size(1, 1), groups.inputs));
  STRIA_ASSIGN(std::vector<Window> windows, windows_of(node, of.spatial, of.kernel));
  STRIA_RETURN_IF_ERROR(place_windows(node, windows));
  const Forms y = indices("y", windows.size()), k = indices("k", windows.size());
  const std::string x = access(of.x, join_forms({"n", groups.input_form}, window_forms(windows)));
  const std::string w = access(of.w, join_forms({groups.output_form, groups.inner_input}, k));
  const std::string sum = contract(node, '+', join_forms({"n", groups.output_form}, y),
                                   join_sizes({node.size(0, 0), outputs}, output_sizes(windows)),
                                   x + " * " + w, groups.constraints);
  return finish_convolution(node, sum, of.bias, outputs);
}

}  // namespace

Status convolution(NodeWriter& node) {
  STRIA_ASSIGN(const std::string y, convolved(node));
  return node.result(0, y);
}

// com.microsoft's: a tensor of the result's sizes may be added, and an activation follows.
Status fused_convolution(NodeWriter& node) {
  STRIA_ASSIGN(std::string y, convolved(node));
  if (node.has(3)) {
    STRIA_ASSIGN(const std::string z, node.tensor(3));
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

Status transposed_convolution(NodeWriter& node) {
  STRIA_ASSIGN(const ConvolutionOf of, convolution_of(node));
  STRIA_ASSIGN(const int64_t group, node.integer_attribute("group", 1));
  const int64_t inputs = node.size(0, 1), outputs = node.size(1, 1) * group;
  STRIA_ASSIGN(const ChannelGroups groups, channel_groups(node, inputs, outputs));
  if (node.size(1, 0) != inputs)
    return node.error(fmt::format("weights for {} channels of {}", node.size(1, 0), inputs));
  STRIA_ASSIGN(std::vector<Window> windows, windows_of(node, of.spatial, of.kernel));
  STRIA_RETURN_IF_ERROR(place_transposed(node, windows));
  const Forms y = indices("y", windows.size()), k = indices("k", windows.size());
  const std::string x = access(of.x, join_forms({"n", groups.input_form}, y));
  const std::string w = access(of.w, join_forms({groups.input_form, groups.inner_output}, k));
  const std::string sum =
      contract(node, '+', join_forms({"n", groups.output_form}, window_forms(windows)),
               join_sizes({node.size(0, 0), outputs}, output_sizes(windows)), x + " * " + w,
               groups.constraints);
  STRIA_ASSIGN(const std::string out, finish_convolution(node, sum, of.bias, outputs));
  return node.result(0, out);
}

}  // namespace operators
}  // namespace stria::onnx
