// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools: where the kernel of each result lies on the input.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

// The most that a kernel, stride, dilation or pad may be: sums of products of two fit 64 bits.
constexpr int64_t kMostOfWindow = 0x3fffffff;

// Along one spatial axis.
struct Window {
  int64_t input = 0;  // elements
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
  int64_t output = 0;
  int64_t span() const { return (kernel - 1) * dilation + 1; }
  // Some window reaches beyond the input.
  bool overhangs() const {
    return pad_begin > 0 || (output - 1) * stride + span() - pad_begin > input;
  }
};

// Attributes strides, dilations, pads, before they are put together with sizes. Checked: as many as
// there are axes, strides and dilations above 0. `pads`, if given, stand for the attribute.
Result<std::vector<Window>> windows_of(NodeWriter& node, const Sizes& input, const Sizes& kernel,
                                       const Sizes* pads = nullptr);
// pads and the output's size, from auto_pad, pads and ceil_mode.
Status place_windows(NodeWriter& node, std::vector<Window>& windows);
// The attribute kernel_shape, which must be there and have `axes` elements.
Result<Sizes> kernel_shape(NodeWriter& node, size_t axes);
// "2 * y0 + k0 - 1" for each axis.
Forms window_forms(const std::vector<Window>& windows);
Sizes output_sizes(const std::vector<Window>& windows);

}  // namespace stria::onnx
