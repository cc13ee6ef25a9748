// SPDX-License-Identifier: Apache-2.0
// GroupNorm, SkipGroupNorm and BiasAdd of com.microsoft: what networks that make images are
// optimized to. Channels stand last unless an attribute says otherwise.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/normalize/moments.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Of input 0.
struct ChannelLayout {
  bool channels_last = true;
  int64_t channels = 0;
  Sizes along;  // the channels' size among ones
};

Result<ChannelLayout> layout_of(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t last, node.integer_attribute("channels_last", 1));
  const int64_t rank = node.rank(0);
  if (rank < 3) return node.error(fmt::format("its input has rank {}", rank));
  ChannelLayout out;
  out.channels_last = last != 0;
  const int64_t axis = last ? rank - 1 : 1;
  out.channels = node.size(0, static_cast<int>(axis));
  out.along = along(rank, axis, out.channels);
  return out;
}

// Input `i`, with an element for each channel, in sizes that broadcast: wide.
Result<std::string> by_channels(NodeWriter& node, int i, const ChannelLayout& layout) {
  STRIA_ASSIGN(const std::string own, node.tensor(i));
  if (node.type(i).sizes != Sizes{layout.channels})
    return node.error(fmt::format("input {} has sizes [{}], not [{}]", i,
                                  fmt::join(node.type(i).sizes, ", "), layout.channels));
  return node.let(reshaped(wide(own, node.type(i).type), layout.along));
}

// Result 0: `x`, of input 0's sizes and wide, with inputs 1 and 2 as scale and bias.
Status group_normalized(NodeWriter& node, const std::string& x, const ChannelLayout& layout) {
  STRIA_ASSIGN(const int64_t groups, node.integer_attribute("groups", 0));
  STRIA_ASSIGN(const int64_t activation, node.integer_attribute("activation", 0));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-5F));
  if (groups < 1 || groups > layout.channels || layout.channels % groups != 0)
    return node.error(fmt::format("{} channels do not make groups: attribute 'groups' is {}",
                                  layout.channels, groups));
  if (activation != 0 && activation != 1)
    return node.error(fmt::format("attribute 'activation' is {}, not 0 or 1", activation));
  STRIA_ASSIGN(const std::string scale, by_channels(node, 1, layout));
  STRIA_ASSIGN(const std::string bias, by_channels(node, 2, layout));
  const Sizes& sizes = node.type(0).sizes;
  Sizes grouped = sizes;
  const size_t axis = layout.channels_last ? grouped.size() - 1 : 1;
  grouped[axis] = groups;
  grouped.insert(grouped.begin() + static_cast<std::ptrdiff_t>(axis) + 1, layout.channels / groups);
  std::vector<bool> axes(grouped.size(), true);
  axes[0] = axes[axis] = false;
  const Moments of = moments(node, node.let(reshaped(x, grouped)), grouped, axes);
  const std::string normal =
      node.let(fmt::format("{} / sqrt({} + {})", of.centered, of.variance, literal(epsilon)));
  const std::string y = node.let(fmt::format("{} * {} + {}", reshaped(normal, sizes), scale, bias));
  return node.result(
      0, narrow(activation ? fmt::format("({0} * sigmoid({0}))", y) : y, node.type(0).type));
}

}  // namespace

Status group_norm(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const ChannelLayout layout, layout_of(node));
  return group_normalized(node, node.let(wide(x, node.type(0).type)), layout);
}

// Inputs: input, scale, bias, what is added, a bias that is added. Outputs: output, the sum.
Status skip_group_norm(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string skip, node.tensor(3));
  STRIA_ASSIGN(const ChannelLayout layout, layout_of(node));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  std::string sum = wide(x, type) + " + ";
  // One may be added to all pixels of an image.
  Sizes whole = layout.along;
  whole[0] = sizes[0];
  const Sizes& given = node.type(3).sizes;
  if (given == sizes)
    sum += wide(skip, type);
  else if (given == whole || given == Sizes{sizes[0], layout.channels})
    sum += reshaped(wide(skip, type), whole);
  else
    return node.error(fmt::format("input 3, which is added, has sizes [{}] for [{}]",
                                  fmt::join(given, ", "), fmt::join(sizes, ", ")));
  if (node.has(4)) {
    STRIA_ASSIGN(const std::string bias, by_channels(node, 4, layout));
    sum += " + " + bias;
  }
  sum = node.let(sum);
  STRIA_RETURN_IF_ERROR(node.result(1, narrow(sum, type)));
  return group_normalized(node, sum, layout);
}

// Inputs: input, a bias for each channel, what is added.
Status bias_add(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string bias, node.tensor(1));
  STRIA_ASSIGN(const std::string skip, node.tensor(2));
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.empty() || node.type(1).sizes != Sizes{sizes.back()} || node.type(2).sizes != sizes)
    return node.error(fmt::format("[{}] with a bias of [{}] and [{}]", fmt::join(sizes, ", "),
                                  fmt::join(node.type(1).sizes, ", "),
                                  fmt::join(node.type(2).sizes, ", ")));
  const DataType type = node.type(0).type;
  return node.result(
      0, narrow(fmt::format("({} + {} + {})", wide(x, type), wide(bias, type), wide(skip, type)),
                type));
}

}  // namespace stria::onnx::operators
