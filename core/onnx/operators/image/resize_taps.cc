// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/image/resize_taps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx {
namespace {

// Where new element `x` lies among the old ones; nullopt for a mode that does not exist.
std::optional<double> source_of(const std::string& mode, const ResizedAxis& axis, double x) {
  const auto from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  // A scale may ask for a part of an element, which is cut off the size but not off the length.
  const double length = axis.scale * from;
  if (mode == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric")
    return from / 2 * (1 - to / length) + (x + 0.5) / axis.scale - 0.5;
  if (mode == "pytorch_half_pixel") return to > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (mode == "align_corners") return length == 1 ? 0 : x * (from - 1) / (length - 1);
  if (mode == "asymmetric") return x / axis.scale;
  // Of version 11, in fp32 as its runtimes.
  if (mode == "tf_half_pixel_for_nn")
    return static_cast<float>(x + 0.5) / static_cast<float>(axis.scale);
  if (mode == "tf_crop_and_resize") {
    const double start = axis.roi_start * (from - 1), end = axis.roi_end * (from - 1);
    return to > 1 ? start + x * (end - start) / (to - 1) : (start + end) / 2;
  }
  return std::nullopt;
}

std::optional<double> nearest_of(const std::string& mode, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return std::nullopt;
}

// The weight of an element that lies `distance` away.
double weight_of(const ResizeMode& mode, double distance) {
  const double d = std::abs(distance), a = mode.cubic_coeff_a;
  if (mode.mode == "linear") return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

}  // namespace

TapPeriod period_of(const ResizeTaps& taps, int64_t to, int64_t most) {
  const auto count = static_cast<size_t>(taps.count);
  for (int64_t steps = 1; steps <= std::min(most, to - 1); ++steps) {
    const size_t ahead = static_cast<size_t>(steps) * count;
    const int64_t stride = taps.positions[ahead] - taps.positions[0];
    bool repeats = stride > 0;
    // Against the first steps: what a scale is off by adds up.
    for (size_t k = ahead; repeats && k < taps.positions.size(); ++k)
      repeats = taps.positions[k] - taps.positions[k % ahead] ==
                    stride * static_cast<int64_t>(k / ahead) &&
                std::abs(taps.weights[k] - taps.weights[k % ahead]) < 1e-6;
    if (repeats) return {steps, stride};
  }
  return {};
}

Result<ResizeTaps> resize_taps(const NodeWriter& node, const ResizeMode& mode,
                               const ResizedAxis& axis) {
  const bool is_nearest = mode.mode == "nearest";
  if (!is_nearest && mode.mode != "linear" && mode.mode != "cubic")
    return node.error(fmt::format("mode '{}'", mode.mode));
  // An element reaches `reach` old ones to each side; stretched where several become one.
  const double narrow = mode.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = (mode.mode == "linear" ? 1 : 2) / narrow;
  if (!(reach < 1e9)) return node.not_supported(fmt::format("a scale of {}", axis.scale));
  const auto first = is_nearest ? 0 : static_cast<int64_t>(std::floor(-reach)) + 1;
  ResizeTaps out;
  out.count = is_nearest ? 1 : 2 - 2 * first;
  out.copies = axis.from == axis.to;
  // What does not change needs no tables.
  if (out.copies && axis.scale == 1 && mode.coordinates != "tf_crop_and_resize" &&
      source_of(mode.coordinates, axis, 0) == 0)
    return out;
  STRIA_RETURN_IF_ERROR(
      check_table(node, fmt::format("an axis of {} elements", axis.to), {axis.to, out.count}));
  for (int64_t o = 0; o < axis.to; ++o) {
    const auto source = source_of(mode.coordinates, axis, static_cast<double>(o));
    if (!source)
      return node.error(fmt::format("coordinate_transformation_mode '{}'", mode.coordinates));
    if (!(std::abs(*source) < 1e15))
      return node.not_supported(
          fmt::format("a roi or a scale by which element {} is that at {}", o, *source));
    const double most = static_cast<double>(axis.from) - 1;
    out.outside.push_back(mode.coordinates == "tf_crop_and_resize" &&
                          (*source < 0 || *source > most));
    out.any_outside = out.any_outside || out.outside.back();
    if (*source != static_cast<double>(o)) out.copies = false;
    if (is_nearest) {
      // In fp32, as scales are: of 7 / 0.7 more digits make more than 10.
      const double single = static_cast<float>(o) / static_cast<float>(axis.scale);
      const auto nearest = mode.nearest_by_scale
                               ? nearest_of(axis.scale < 1 ? "ceil" : "floor", single)
                               : nearest_of(mode.nearest, *source);
      if (!nearest) return node.error(fmt::format("nearest_mode '{}'", mode.nearest));
      out.positions.push_back(static_cast<int64_t>(*nearest));
      out.weights.push_back(1);
      continue;
    }
    // The taps lie around the step behind `left`, which is left of a whole source, too.
    const double left = std::ceil(*source) - 1;
    double all = 0;
    for (int64_t k = first; k < first + out.count; ++k) {
      const double at = left + static_cast<double>(k);
      double weight = weight_of(mode, (at - *source) * narrow);
      if (mode.exclude_outside && (at < 0 || at > most)) weight = 0;
      all += weight;
      out.positions.push_back(static_cast<int64_t>(at));
      out.weights.push_back(weight);
    }
    if ((mode.antialias || mode.exclude_outside) && all != 0)
      std::for_each(out.weights.end() - out.count, out.weights.end(), [&](double& w) { w /= all; });
  }
  return out;
}

}  // namespace stria::onnx
