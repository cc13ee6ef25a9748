// SPDX-License-Identifier: Apache-2.0
// A picture as what a model takes it for: resized, cropped, scaled, its channels and dimensions in
// the model's order.
//
//   file ─> alpha ─> channels ─> size ─> crop ─> order ─> (x * scale - mean) / std ─> layout, type
//
// Each step is decided by an option, or else by what the model says of its input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria {

struct PictureOptions {
  // Pixels. One number as a size is that of the shorter side: the other keeps the ratio of the two
  // sides, cut to whole pixels. As a crop it is both sides.
  std::vector<int64_t> size;      // height and width, or one number; empty: not said
  std::vector<int64_t> crop;      // likewise, of what is cut out of the middle
  std::optional<double> scale;    // what 1, the brightest, becomes
  std::vector<double> mean, std;  // one for all channels, or one for each, in the model's order
  bool bgr = false;               // the first channel is blue
  enum class Layout : uint8_t { unsaid, nchw, nhwc, chw, hwc } layout = Layout::unsaid;
  bool drop_alpha = false;
};

// "size=256", "size=480,640", "crop=224", "scale=255", "mean=0.485,0.456,0.406", "std=…",
// "order=bgr", "layout=nhwc", "alpha=drop"; each once. invalid_argument with what is possible.
Result<PictureOptions> parse_picture_options(const std::vector<std::string>& texts);

// What a model says of the input.
struct PictureTarget {
  DataType type = DataType::fp32;
  bool has_dims = false;                     // false: [H, W, C] unless `layout` says another
  std::vector<std::optional<int64_t>> dims;  // elements; none: open
};

// `picture` is fp32 [H, W, C] in 0..1, as files of pictures are read.
//
// layout: unless it is said, the channels are the first or the last dimension, whichever is 1, 3 or
//   4 in the target; before them may stand a dimension of the batch, which becomes 1. A target of
//   two dimensions is grey.
// channels: colours become grey where the target has 1 channel (0.299 R + 0.587 G + 0.114 B), grey
//   becomes three equal colours where it has 3. An alpha channel goes only if drop_alpha says so.
// size: unless it or a crop is said, the target's height and width; if it has one of the two, the
//   other keeps the ratio.
// scale: 1 for floats and 255 for integers unless said. Integers are rounded half to even and end
//   at their limits.
// invalid_argument if the result is not what the target says, with the option that would help.
Result<HostTensor> picture_tensor(const HostTensor& picture, const PictureOptions& options,
                                  const PictureTarget& target);

// fp32 [H, W, C] with other sizes: linear between the middles of pixels, and smaller pictures are
// means over all of their pixels, with weights that fall linearly from the middle.
Result<HostTensor> resized(const HostTensor& picture, int64_t height, int64_t width);

}  // namespace stria
