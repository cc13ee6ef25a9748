// SPDX-License-Identifier: Apache-2.0
// What convolutions of all kinds share.
#pragma once

#include <string>

#include "stria/onnx/operators/nn/windows.h"

namespace stria::onnx {

// Channels in groups: forms over the indices g (a group), ci and co (a channel in it).
struct ChannelGroups {
  int64_t groups = 1;
  int64_t inputs = 0;  // of a group
  int64_t outputs = 0;
  std::string input_form, output_form;    // among all channels
  std::string inner_input, inner_output;  // in a group
  Forms constraints;
};
Result<ChannelGroups> channel_groups(NodeWriter& node, int64_t inputs, int64_t outputs);
// An element of `bias` added to each channel, which dimension 1 is.
std::string with_bias(const std::string& sum, const std::string& bias, int64_t rank,
                      int64_t channels);

}  // namespace stria::onnx
