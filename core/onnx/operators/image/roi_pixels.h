// SPDX-License-Identifier: Apache-2.0
// What operators on parts of images share.
#pragma once

#include <string>

#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx {

// Elements of input 0, [images, channels, height, width], at rows x columns of each part's image:
// [parts, bins, bins, taps, taps, channels], of which `sizes` lacks the channels. `rows` and
// `columns` are [parts, bins, taps]; `batch` has the image of each part.
std::string roi_pixels(NodeWriter& node, const std::string& x, const std::string& batch,
                       const std::string& rows, const std::string& columns, const Sizes& sizes);

}  // namespace stria::onnx
