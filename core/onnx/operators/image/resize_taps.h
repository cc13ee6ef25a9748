// SPDX-License-Identifier: Apache-2.0
// Resizing along one axis: which elements each new element is made of, and with what weights.
// Sizes and scales are known, so that all of it is tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// The attributes of Resize that every axis has, with the standard's names and defaults.
struct ResizeMode {
  std::string mode = "nearest";  // linear, cubic
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  bool nearest_by_scale = false;  // instead: up where an axis gets smaller, down elsewhere
  double cubic_coeff_a = -0.75;
  bool antialias = false;
  bool exclude_outside = false;
};

struct ResizedAxis {
  int64_t from = 0, to = 0;  // elements
  double scale = 1;
  double roi_start = 0, roi_end = 1;
};

struct ResizeTaps {
  int64_t count = 1;               // taps of each new element
  std::vector<int64_t> positions;  // [to, count]; those beside the axis mean its border
  std::vector<double> weights;     // [to, count]; all 1 for `nearest`
  std::vector<bool> outside;       // [to]: it lies beside the axis, where that matters
  bool any_outside = false;
  bool copies = false;  // each new element is the old one
};

// The taps of `steps` new elements are those of the ones before, `stride` old elements further.
struct TapPeriod {
  int64_t steps = 0, stride = 0;
};
// The shortest one of at most `most` steps; 0 steps if there is none.
TapPeriod period_of(const ResizeTaps& taps, int64_t to, int64_t most);

// invalid_argument, naming the node, for a mode that does not exist.
Result<ResizeTaps> resize_taps(const NodeWriter& node, const ResizeMode& mode,
                               const ResizedAxis& axis);

}  // namespace stria::onnx
