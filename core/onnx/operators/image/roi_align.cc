// SPDX-License-Identifier: Apache-2.0
// RoiAlign and MaxRoiPool: parts of images, of sizes that elements tell, in a fixed number of bins.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stria/onnx/operators/image/roi_pixels.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// Positions and weights along one axis of the image: [rois, bins, count].
struct BinTaps {
  std::string positions, weights;
  int64_t count = 1;
};

// One axis of all rois.
struct RoiAxis {
  std::string begin, length;  // [rois, 1, 1], in pixels
  int64_t rois = 0, bins = 1, size = 0;
  // Samples of a bin; 0 if each roi has as many as its bins have pixels: `adaptive` then.
  int64_t samples = 0;
  std::vector<int64_t> adaptive;
};

// Where each bin is sampled, in bins from the begin: [1 or rois, bins, samples]; and the part of
// the average that a sample is, 0 for those that a roi does not have.
Status sample_tables(const RoiAxis& axis, bool average, int64_t samples, HostTensor& places,
                     HostTensor& parts) {
  const std::vector<int64_t> same = {axis.samples};
  const std::vector<int64_t>& counts = axis.samples > 0 ? same : axis.adaptive;
  std::vector<double> place, part;
  for (const int64_t count : counts)
    for (int64_t bin = 0; bin < axis.bins; ++bin)
      for (int64_t s = 0; s < samples; ++s) {
        const bool there = s < count;
        const double at = there ? static_cast<double>(s) : 0;
        const auto n = static_cast<double>(std::max<int64_t>(count, 1));
        place.push_back(static_cast<double>(bin) + (at + 0.5) / n);
        // The largest does not mind a sample that stands for those that are missing.
        part.push_back(average ? (there ? 1 / n : 0) : (count > 0 ? 1 : 0));
      }
  const Sizes sizes = {static_cast<int64_t>(counts.size()), axis.bins, samples};
  STRIA_ASSIGN(places, number_table(DataType::fp32, place, sizes));
  STRIA_ASSIGN(parts, number_table(DataType::fp32, part, sizes));
  return {};
}

Result<BinTaps> bin_taps(NodeWriter& node, const RoiAxis& axis, bool average) {
  const int64_t samples =
      axis.samples > 0 || axis.adaptive.empty()
          ? std::max<int64_t>(axis.samples, 1)
          : std::max<int64_t>(*std::max_element(axis.adaptive.begin(), axis.adaptive.end()), 1);
  STRIA_RETURN_IF_ERROR(check_table(
      node, fmt::format("{} bins of {} samples", axis.bins, samples),
      {std::max<int64_t>(static_cast<int64_t>(axis.adaptive.size()), 1), axis.bins, samples}));
  HostTensor places, parts;
  STRIA_RETURN_IF_ERROR(sample_tables(axis, average, samples, places, parts));
  const std::string place = node.constant(std::move(places));
  const std::string part = node.constant(std::move(parts));
  const std::string at =
      node.let(fmt::format("{} + {} / {} * {}", axis.begin, axis.length, axis.bins, place));
  // Up to a pixel beside the image it counts as its border; further away there is nothing.
  const std::string there =
      node.let(fmt::format("{0} >= -1 && {0} <= {1} ? {2} : 0.0", at, axis.size, part));
  const std::string inside =
      node.let(reshaped(fmt::format("max(min({}, {}.0), 0.0)", at, axis.size - 1),
                        {axis.rois, axis.bins, samples, 1}));
  STRIA_ASSIGN(HostTensor steps, number_table(DataType::fp32, {0, 1}, {2}));
  const std::string step = node.constant(std::move(steps));
  const std::string tap = node.let(fmt::format("floor({}) + {}", inside, step));
  BinTaps out;
  out.count = 2 * samples;
  const Sizes flat = {axis.rois, axis.bins, out.count};
  const std::string weight = node.let(fmt::format(
      "(1 - abs({} - {})) * {}", tap, inside, reshaped(there, {axis.rois, axis.bins, samples, 1})));
  out.weights = node.let(reshaped(weight, flat));
  out.positions =
      node.let(reshaped(fmt::format("as_int(min({}, {}.0), 64)", tap, axis.size - 1), flat));
  return out;
}

}  // namespace

Status roi_align(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string rois, node.tensor(1));
  STRIA_ASSIGN(const std::string batch, node.tensor(2));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", "avg"));
  STRIA_ASSIGN(const int64_t bins_y, node.integer_attribute("output_height", 1));
  STRIA_ASSIGN(const int64_t bins_x, node.integer_attribute("output_width", 1));
  STRIA_ASSIGN(const int64_t samples, node.integer_attribute("sampling_ratio", 0));
  STRIA_ASSIGN(const float scale, node.float_attribute("spatial_scale", 1));
  STRIA_ASSIGN(const std::string coordinates,
               node.string_attribute("coordinate_transformation_mode",
                                     node.version() < 16 ? "output_half_pixel" : "half_pixel"));
  if (mode != "avg" && mode != "max") return node.error(fmt::format("mode '{}'", mode));
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return node.error(fmt::format("coordinate_transformation_mode '{}'", coordinates));
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() != 4 || node.rank(1) != 2 || node.size(1, 1) != 4 ||
      node.type(2).sizes != Sizes{node.size(1, 0)} || bins_y < 1 || bins_x < 1 || samples < 0)
    return node.error(fmt::format("rois of sizes [{}], batches of [{}], {} x {} bins",
                                  list_text(node.type(1).sizes), list_text(node.type(2).sizes),
                                  bins_y, bins_x));
  const bool half_pixel = coordinates == "half_pixel", average = mode == "avg";
  std::shared_ptr<const HostTensor> known;
  if (samples == 0) {
    STRIA_ASSIGN(known, node.known(1));
  }
  const int64_t count = node.size(1, 0);
  std::vector<BinTaps> taps;
  for (const int d : {1, 0}) {
    RoiAxis axis;
    axis.rois = count;
    axis.bins = d == 1 ? bins_y : bins_x;
    axis.size = sizes[d == 1 ? 2 : 3];
    axis.samples = samples;
    const auto corner = [&](int k) {
      const std::string one =
          moved(node, rois, {"r", std::to_string(k)}, {"r", "0", "0"}, {count, 1, 1});
      return node.let(fmt::format("{} * {} - {}", stria::onnx::cast(one, DataType::fp32),
                                  number(static_cast<double>(scale)), half_pixel ? "0.5" : "0.0"));
    };
    axis.begin = corner(d);
    const std::string end = corner(d + 2);
    axis.length = node.let(half_pixel ? fmt::format("{} - {}", end, axis.begin)
                                      : fmt::format("max({} - {}, 1.0)", end, axis.begin));
    for (int64_t r = 0; known && r < count; ++r) {
      const auto at = [&](int k) {
        return static_cast<float>(
                   load_scalar(known->type(), known->data(), r * 4 + k).to_double()) *
               scale;
      };
      float length = at(d + 2) - at(d);
      if (!half_pixel) length = std::max(length, 1.0F);
      const float pixels = std::ceil(length / static_cast<float>(axis.bins));
      if (!(pixels < 1e6F))
        return node.error(fmt::format("roi {} has bins of {} pixels", r, pixels));
      axis.adaptive.push_back(std::max<int64_t>(static_cast<int64_t>(pixels), 0));
    }
    STRIA_ASSIGN(BinTaps one, bin_taps(node, axis, average));
    taps.push_back(std::move(one));
  }
  const Sizes all = {count, bins_y, bins_x, taps[0].count, taps[1].count};
  const std::string pixels = roi_pixels(node, x, batch, taps[0].positions, taps[1].positions, all);
  const std::string weights = node.let(
      fmt::format("{} * {}", reshaped(taps[0].weights, {count, bins_y, 1, taps[0].count, 1}),
                  reshaped(taps[1].weights, {count, 1, bins_x, 1, taps[1].count})));
  const std::string y = node.fresh();
  node.line(fmt::format("{}[r, c, p, q : {}] = {}({}[r, p, q, s, t, c] * {}[r, p, q, s, t]);", y,
                        list_text({count, sizes[1], bins_y, bins_x}), average ? "+" : ">", pixels,
                        weights));
  return node.result(0, stria::onnx::cast(y, node.type(0).type));
}

Status max_roi_pool(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string rois, node.tensor(1));
  STRIA_ASSIGN(const Sizes bins, node.integers_attribute("pooled_shape"));
  STRIA_ASSIGN(const float scale, node.float_attribute("spatial_scale", 1));
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() != 4 || node.rank(1) != 2 || node.size(1, 1) != 5 || bins.size() != 2 ||
      bins[0] < 1 || bins[1] < 1)
    return node.error(fmt::format("rois of sizes [{}] for [{}] bins", list_text(node.type(1).sizes),
                                  list_text(bins)));
  const int64_t count = node.size(1, 0);
  const auto column = [&](int k) {
    return moved(node, rois, {"r", std::to_string(k)}, {"r", "0", "0"}, {count, 1, 1});
  };
  // Pixels that a bin has at most: as many as the image. Those behind its end are its last one.
  std::vector<std::string> places, filled;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t size = sizes[d + 2], n = bins[d];
    const auto pixel = [&](int k) {
      return node.let(fmt::format("floor({} * {} + 0.5)",
                                  stria::onnx::cast(column(k), DataType::fp32),
                                  number(static_cast<double>(scale))));
    };
    const std::string begin = pixel(d == 0 ? 2 : 1), end = pixel(d == 0 ? 4 : 3);
    const std::string step = node.let(fmt::format("max({} - {} + 1, 1.0) / {}", end, begin, n));
    STRIA_RETURN_IF_ERROR(check_table(node, fmt::format("an axis of {} bins", n), {n}));
    STRIA_RETURN_IF_ERROR(check_table(node, fmt::format("an image of {} pixels", size), {size}));
    std::vector<double> numbers, offsets;
    for (int64_t b = 0; b < n; ++b) numbers.push_back(static_cast<double>(b));
    for (int64_t o = 0; o < size; ++o) offsets.push_back(static_cast<double>(o));
    STRIA_ASSIGN(HostTensor bin_table, number_table(DataType::fp32, numbers, {n, 1}));
    STRIA_ASSIGN(HostTensor offset_table, number_table(DataType::fp32, offsets, {size}));
    const std::string bin = node.constant(std::move(bin_table));
    const std::string offset = node.constant(std::move(offset_table));
    const std::string low =
        node.let(fmt::format("max(min({} + floor({} * {}), {}.0), 0.0)", begin, bin, step, size));
    const std::string high = node.let(
        fmt::format("max(min({} + ceil(({} + 1) * {}), {}.0), 0.0)", begin, bin, step, size));
    filled.push_back(node.let(fmt::format("{} > {}", high, low)));
    places.push_back(
        node.let(fmt::format("as_int(max(min({} + {}, {} - 1), 0.0), 64)", low, offset, high)));
  }
  const Sizes all = {count, bins[0], bins[1], sizes[2], sizes[3]};
  const std::string pixels = roi_pixels(node, x, column(0), places[0], places[1], all);
  const std::string most = node.fresh();
  node.line(fmt::format("{}[r, c, p, q : {}] = >({}[r, p, q, s, t, c]);", most,
                        list_text({count, sizes[1], bins[0], bins[1]}), pixels));
  // A bin without pixels is 0.
  const std::string there =
      node.let(fmt::format("{} && {}", reshaped(filled[0], {count, 1, bins[0], 1}),
                           reshaped(filled[1], {count, 1, 1, bins[1]})));
  return node.result(0, fmt::format("{} ? {} : 0", there, most));
}

}  // namespace stria::onnx::operators
