// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: one axis after the other. Where the taps repeat after some elements, as they
// do for scales like 2 and 1.5, an axis is one contraction with a small table of weights; else the
// taps are gathered first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stria/onnx/operators/image/resize_taps.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// The sizes and scales of the axes that change.
struct Resized {
  std::vector<size_t> axes;
  std::vector<ResizedAxis> each;
};

Result<std::vector<double>> known_numbers(NodeWriter& node, int i) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> tensor, node.known(i));
  std::vector<double> out;
  for (int64_t e = 0; e < tensor->element_count(); ++e)
    out.push_back(load_scalar(tensor->type(), tensor->data(), e).to_double());
  return out;
}

Result<Resized> by_scales(const NodeWriter& node, std::vector<size_t> axes,
                          const std::vector<double>& scales, const std::vector<double>& roi) {
  if (scales.size() != axes.size())
    return node.error(fmt::format("{} scales for {} axes", scales.size(), axes.size()));
  Resized out;
  out.axes = std::move(axes);
  for (size_t k = 0; k < out.axes.size(); ++k) {
    ResizedAxis axis;
    axis.from = node.size(0, static_cast<int>(out.axes[k]));
    axis.scale = scales[k];
    if (!roi.empty()) axis.roi_start = roi[k], axis.roi_end = roi[k + out.axes.size()];
    // In the precision of the scale: 10 times the fp32 number next to 0.7 is 7.
    const float size = static_cast<float>(axis.from) *
                       static_cast<float>(axis.roi_end - axis.roi_start) *
                       static_cast<float>(axis.scale);
    if (!(axis.scale > 0 && size >= 0 && size < 9e15F))
      return node.error(fmt::format("a scale of {} for {} elements", axis.scale, axis.from));
    axis.to = static_cast<int64_t>(std::floor(size));
    out.each.push_back(axis);
  }
  return out;
}

Result<Resized> by_sizes(const NodeWriter& node, std::vector<size_t> axes, const Sizes& sizes,
                         const std::vector<double>& roi, const std::string& policy) {
  if (sizes.size() != axes.size())
    return node.error(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  Resized out;
  out.axes = std::move(axes);
  for (size_t k = 0; k < out.axes.size(); ++k) {
    ResizedAxis axis;
    axis.from = node.size(0, static_cast<int>(out.axes[k]));
    axis.to = sizes[k];
    if (!roi.empty()) axis.roi_start = roi[k], axis.roi_end = roi[k + out.axes.size()];
    if (axis.to < 0 || (axis.from == 0 && axis.to > 0))
      return node.error(fmt::format("{} elements of {}", axis.to, axis.from));
    axis.scale = axis.from == 0 ? 1 : static_cast<double>(axis.to) / static_cast<double>(axis.from);
    out.each.push_back(axis);
  }
  if (policy == "stretch" || out.each.empty()) return out;
  if (policy != "not_larger" && policy != "not_smaller")
    return node.error(fmt::format("keep_aspect_ratio_policy '{}'", policy));
  double scale = out.each[0].scale;
  for (const ResizedAxis& axis : out.each)
    scale = policy == "not_larger" ? std::min(scale, axis.scale) : std::max(scale, axis.scale);
  for (ResizedAxis& axis : out.each) {
    axis.scale = scale;
    axis.to = static_cast<int64_t>(std::floor(scale * static_cast<double>(axis.from) + 0.5));
  }
  return out;
}

// Steps after which taps repeat, at most: each is a row of weights of one contraction.
constexpr int64_t kMostSteps = 8;

// x with its border elements repeated along `axis`; changes `sizes`.
std::string with_borders(NodeWriter& node, std::string x, Sizes& sizes, size_t axis, int64_t before,
                         int64_t after) {
  if (before == 0 && after == 0) return x;
  const std::vector<std::string> index = index_list(sizes.size());
  std::vector<std::string> from = index, to = index;
  const int64_t size = sizes[axis];
  sizes[axis] += before + after;
  to[axis] = fmt::format("{} + {}", index[axis], before);
  std::string all = moved(node, x, from, to, sizes, " default " + node.let("0"));
  const auto border = [&](int64_t at, int64_t begin, int64_t count) {
    if (count == 0) return;
    from[axis] = std::to_string(at);
    to[axis] = fmt::format("{} + {}", index[axis], begin);
    all = moved(node, x, from, to, sizes,
                fmt::format(", {} < {} default {}", index[axis], count, all));
  };
  border(0, 0, before);
  border(size - 1, before + size, after);
  return all;
}

// One contraction over the old elements that any of the steps reads.
Result<std::string> by_period(NodeWriter& node, std::string x, Sizes& sizes, size_t axis,
                              const ResizedAxis& resized, const ResizeTaps& taps,
                              const TapPeriod& period, DataType weight_type) {
  const auto [lowest, highest] = std::minmax_element(taps.positions.begin(), taps.positions.end());
  const int64_t before = std::max<int64_t>(-*lowest, 0);
  const int64_t after = std::max<int64_t>(*highest - resized.from + 1, 0);
  x = with_borders(node, x, sizes, axis, before, after);
  sizes[axis] = resized.to;
  const std::vector<std::string> index = index_list(sizes.size());
  std::vector<std::string> from = index, to = index;
  const auto begin = taps.positions.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(period.steps * taps.count);
  const int64_t first = *std::min_element(begin, end);
  const int64_t width = *std::max_element(begin, end) - first + 1;
  const std::string at = fmt::format("{} * {} + {}", period.stride, index[axis], first + before);
  if (period.steps == 1 && taps.count == 1) {
    from[axis] = at;
    return moved(node, x, from, to, sizes);
  }
  STRIA_RETURN_IF_ERROR(
      check_table(node, fmt::format("an axis of {} elements", resized.to), {period.steps, width}));
  std::vector<double> table(static_cast<size_t>(period.steps * width));
  for (int64_t s = 0; s < period.steps; ++s)
    for (int64_t k = 0; k < taps.count; ++k) {
      const auto tap = static_cast<size_t>(s * taps.count + k);
      table[static_cast<size_t>(s * width + taps.positions[tap] - first)] += taps.weights[tap];
    }
  STRIA_ASSIGN(HostTensor weights, number_table(weight_type, table, {period.steps, width}));
  from[axis] = at + " + k";
  to[axis] = fmt::format("{} * {} + s", period.steps, index[axis]);
  std::string name = node.fresh();
  node.line(fmt::format("{}[{} : {}] = +({}[{}] * {}[s, k]);", name, fmt::join(to, ", "),
                        list_text(sizes), x, fmt::join(from, ", "),
                        node.constant(std::move(weights))));
  return name;
}

// A whole number of times, each element repeated behind itself.
bool repeats(const ResizeTaps& taps, const ResizedAxis& axis) {
  if (taps.count != 1 || axis.from == 0 || axis.to % axis.from != 0) return false;
  const int64_t times = axis.to / axis.from;
  for (int64_t o = 0; o < axis.to; ++o)
    if (taps.positions[static_cast<size_t>(o)] != o / times) return false;
  return true;
}

// x along `axis` by its taps; changes `sizes`.
Result<std::string> along_axis(NodeWriter& node, std::string x, Sizes& sizes, size_t axis,
                               const ResizedAxis& resized, const ResizeTaps& taps,
                               DataType weight_type) {
  if (repeats(taps, resized)) {
    const std::vector<std::string> from = index_list(sizes.size());
    std::vector<std::string> to = from;
    const int64_t times = resized.to / resized.from;
    to[axis] = fmt::format("{} * {} + t", from[axis], times);
    sizes[axis] = resized.to;
    return moved(node, x, from, to, sizes, fmt::format(", t < {}", times));
  }
  const TapPeriod period = period_of(taps, resized.to, kMostSteps);
  // A roi may lie far away; gathered taps are clamped.
  const bool near = std::all_of(taps.positions.begin(), taps.positions.end(), [&](int64_t at) {
    return at >= -resized.from && at < 2 * resized.from;
  });
  if (near && period.steps > 0 && (taps.count > 1 || period.steps == 1))
    return by_period(node, x, sizes, axis, resized, taps, period, weight_type);
  // All first taps, then all second ones.
  const bool weighted = taps.count > 1;
  std::vector<int64_t> positions;
  std::vector<double> weights;
  for (int64_t k = 0; k < taps.count; ++k)
    for (int64_t o = 0; o < resized.to; ++o) {
      const auto tap = static_cast<size_t>(o * taps.count + k);
      positions.push_back(std::clamp<int64_t>(taps.positions[tap], 0, resized.from - 1));
      weights.push_back(taps.weights[tap]);
    }
  const Sizes places = weighted ? Sizes{taps.count, resized.to} : Sizes{resized.to};
  STRIA_ASSIGN(HostTensor table, integer_table(positions, places));
  const std::string got = taken(node, x, sizes, axis, node.constant(std::move(table)), places);
  sizes[axis] = resized.to;
  if (!weighted) return got;
  STRIA_ASSIGN(HostTensor weight_table, number_table(weight_type, weights, places));
  const std::vector<std::string> to = index_list(sizes.size());
  std::vector<std::string> from = to;
  from.insert(from.begin() + static_cast<std::ptrdiff_t>(axis), "k");
  std::string name = node.fresh();
  node.line(fmt::format("{}[{} : {}] = +({}[{}] * {}[k, {}]);", name, fmt::join(to, ", "),
                        list_text(sizes), got, fmt::join(from, ", "),
                        node.constant(std::move(weight_table)), to[axis]));
  return name;
}

Status resize_by(NodeWriter& node, const Resized& resized, const ResizeMode& mode,
                 double extrapolation) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const DataType weight_type = type == DataType::fp64 ? type : DataType::fp32;
  Sizes sizes = node.type(0).sizes;
  std::vector<std::pair<size_t, std::vector<double>>> masks;
  bool computed = false;
  for (size_t k = 0; k < resized.axes.size(); ++k) {
    STRIA_ASSIGN(const ResizeTaps taps, resize_taps(node, mode, resized.each[k]));
    if (taps.any_outside)
      masks.emplace_back(resized.axes[k],
                         std::vector<double>(taps.outside.begin(), taps.outside.end()));
    if (taps.copies) continue;
    computed = computed || taps.count > 1;
    STRIA_ASSIGN(x,
                 along_axis(node, x, sizes, resized.axes[k], resized.each[k], taps, weight_type));
  }
  if (computed)
    x = node.let(stria::onnx::cast(is_float(type) ? x : fmt::format("round({})", x), type));
  for (const auto& [axis, outside] : masks) {
    Sizes line(sizes.size(), 1);
    line[axis] = sizes[axis];
    STRIA_ASSIGN(HostTensor table, number_table(DataType::boolean, outside, line));
    STRIA_ASSIGN(HostTensor value, number_table(type, {extrapolation}, {}));
    const std::string mask = node.constant(std::move(table));
    x = node.let(fmt::format("{} ? {} : {}", mask, node.constant(std::move(value)), x));
  }
  return node.result(0, x);
}

std::vector<size_t> all_axes(const NodeWriter& node) {
  std::vector<size_t> axes;
  for (int d = 0; d < node.rank(0); ++d) axes.push_back(static_cast<size_t>(d));
  return axes;
}

}  // namespace

Status resize(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  ResizeMode mode;
  STRIA_ASSIGN(mode.mode, node.string_attribute("mode", "nearest"));
  if (node.version() < 11) {
    mode.coordinates = "asymmetric";
    // What the tests of that version and its runtimes do: the standard's text does not say.
    mode.nearest_by_scale = true;
    STRIA_ASSIGN(const std::vector<double> scales, known_numbers(node, 1));
    STRIA_ASSIGN(const Resized resized, by_scales(node, all_axes(node), scales, {}));
    return resize_by(node, resized, mode, 0);
  }
  STRIA_ASSIGN(mode.coordinates,
               node.string_attribute("coordinate_transformation_mode", "half_pixel"));
  STRIA_ASSIGN(mode.nearest, node.string_attribute("nearest_mode", "round_prefer_floor"));
  STRIA_ASSIGN(const float a, node.float_attribute("cubic_coeff_a", -0.75F));
  STRIA_ASSIGN(const int64_t antialias, node.integer_attribute("antialias", 0));
  STRIA_ASSIGN(const int64_t exclude, node.integer_attribute("exclude_outside", 0));
  STRIA_ASSIGN(const float extrapolation, node.float_attribute("extrapolation_value", 0));
  STRIA_ASSIGN(const std::string policy,
               node.string_attribute("keep_aspect_ratio_policy", "stretch"));
  STRIA_ASSIGN(const Sizes written, node.integers_attribute("axes"));
  mode.cubic_coeff_a = static_cast<double>(a);
  mode.antialias = antialias != 0;
  mode.exclude_outside = exclude != 0;
  std::vector<size_t> axes = all_axes(node);
  if (!written.empty()) {
    axes.clear();
    for (const int64_t each : written) {
      STRIA_ASSIGN(const int64_t axis, node.axis(each, node.rank(0)));
      axes.push_back(static_cast<size_t>(axis));
    }
  }
  std::vector<double> roi;
  if (mode.coordinates == "tf_crop_and_resize") {
    STRIA_ASSIGN(roi, known_numbers(node, 1));
    if (roi.size() != 2 * axes.size())
      return node.error(fmt::format("a roi of {} numbers for {} axes", roi.size(), axes.size()));
  }
  // Models of version 11 give an empty tensor where the input is not meant.
  std::vector<double> scales;
  if (node.has(2)) {
    STRIA_ASSIGN(scales, known_numbers(node, 2));
  }
  Resized resized;
  if (!scales.empty()) {
    STRIA_ASSIGN(resized, by_scales(node, axes, scales, roi));
  } else {
    STRIA_ASSIGN(const Sizes sizes, node.integers(3));
    STRIA_ASSIGN(resized, by_sizes(node, axes, sizes, roi, policy));
  }
  return resize_by(node, resized, mode, static_cast<double>(extrapolation));
}

Status upsample(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  ResizeMode mode;
  mode.coordinates = "asymmetric";
  mode.nearest_by_scale = true;
  STRIA_ASSIGN(mode.mode, node.string_attribute("mode", "nearest"));
  std::vector<double> scales;
  if (node.version() < 7) {
    if (mode.mode == "bilinear") mode.mode = "linear";
    STRIA_ASSIGN(const float height, node.float_attribute("height_scale", 0));
    STRIA_ASSIGN(const float width, node.float_attribute("width_scale", 0));
    scales = {1, 1, static_cast<double>(height), static_cast<double>(width)};
  } else if (node.version() < 9) {
    STRIA_ASSIGN(const std::vector<float> written, node.floats_attribute("scales"));
    scales.assign(written.begin(), written.end());
  } else {
    STRIA_ASSIGN(scales, known_numbers(node, 1));
  }
  STRIA_ASSIGN(const Resized resized, by_scales(node, all_axes(node), scales, {}));
  return resize_by(node, resized, mode, 0);
}

}  // namespace stria::onnx::operators
