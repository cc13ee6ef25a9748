// SPDX-License-Identifier: Apache-2.0
// CropAndResize of com.microsoft: parts of images in one size. The corners are those of the parts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/image/roi_pixels.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// The table of places has an element for each row of a crop.
constexpr int64_t kMostCrop = int64_t{1} << 20;

// Along one axis of all crops: [parts, count, taps].
struct CropTaps {
  std::string positions, weights;
  std::string inside;  // [parts, count]: what lies on the image
};

// `corner` names the first column of the parts for this axis; the other end stands two behind it.
Result<CropTaps> crop_taps(NodeWriter& node, const std::string& parts, int corner, int64_t size,
                           int64_t count, int64_t taps) {
  const int64_t rois = node.size(1, 0);
  const auto end = [&](int column) {
    return moved(node, parts, {"r", std::to_string(column)}, {"r", "0"}, {rois, 1});
  };
  const std::string from = end(corner), to = end(corner + 2);
  std::vector<double> steps;
  for (int64_t p = 0; p < count; ++p) steps.push_back(static_cast<double>(p));
  STRIA_ASSIGN(HostTensor table, number_table(DataType::fp32, steps, {1, count}));
  const std::string last = literal(static_cast<double>(size - 1));
  // One row or column is that in the middle.
  const std::string at =
      node.let(count == 1 ? fmt::format("0.5 * ({} + {}) * {}", from, to, last)
                          : fmt::format("{0} * {2} + {3} * (({1} - {0}) * {2} / {4})", from, to,
                                        last, node.constant(std::move(table)),
                                        literal(static_cast<double>(count - 1))));
  CropTaps out;
  out.inside = node.let(fmt::format("{0} >= 0.0 && {0} <= {1}", at, last));
  // NaN is outside, too, and becomes a place on the image here.
  const std::string on =
      node.let(reshaped(node.let(fmt::format("{} ? {} : 0.0", out.inside, at)), {rois, count, 1}));
  if (taps == 1) {
    out.positions = node.let(fmt::format("as_int(floor({} + 0.5), 64)", on));
    return out;
  }
  STRIA_ASSIGN(HostTensor both, number_table(DataType::fp32, {0, 1}, {2}));
  const std::string tap =
      node.let(fmt::format("floor({}) + {}", on, node.constant(std::move(both))));
  out.weights = node.let(fmt::format("1.0 - abs({} - {})", tap, on));
  out.positions = node.let(fmt::format("as_int(min({}, {}), 64)", tap, last));
  return out;
}

}  // namespace

Status crop_and_resize(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string rois, node.tensor(1));
  STRIA_ASSIGN(const std::string batch, node.tensor(2));
  STRIA_ASSIGN(const Sizes crop, node.integers(3));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", "bilinear"));
  STRIA_ASSIGN(const float outside, node.float_attribute("extrapolation_value", 0));
  if (mode != "bilinear" && mode != "nearest") return node.error(fmt::format("mode '{}'", mode));
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() != 4 || node.rank(1) != 2 || node.size(1, 1) != 4 ||
      node.type(2).sizes != Sizes{node.size(1, 0)})
    return node.error(fmt::format("rois of sizes [{}], batches of [{}] for an image of [{}]",
                                  list_text(node.type(1).sizes), list_text(node.type(2).sizes),
                                  list_text(sizes)));
  if (crop.size() != 2 || crop[0] < 1 || crop[1] < 1 || crop[0] > kMostCrop || crop[1] > kMostCrop)
    return node.error(fmt::format("crop_size is [{}]", list_text(crop)));
  const DataType type = node.type(0).type;
  const std::string parts = node.let(stria::onnx::cast(rois, DataType::fp32));
  const int64_t taps = mode == "bilinear" ? 2 : 1, count = node.size(1, 0);
  STRIA_ASSIGN(const CropTaps down, crop_taps(node, parts, 0, sizes[2], crop[0], taps));
  STRIA_ASSIGN(const CropTaps right, crop_taps(node, parts, 1, sizes[3], crop[1], taps));
  const Sizes all = {count, crop[0], crop[1], taps, taps};
  const std::string pixels = roi_pixels(node, x, batch, down.positions, right.positions, all);
  const Sizes result = {count, sizes[1], crop[0], crop[1]};
  std::string body = pixels + "[r, p, q, s, t, c]";
  if (taps > 1) {
    const std::string weights =
        node.let(fmt::format("{} * {}", reshaped(down.weights, {count, crop[0], 1, taps, 1}),
                             reshaped(right.weights, {count, 1, crop[1], 1, taps})));
    body += fmt::format(" * {}[r, p, q, s, t]", weights);
  }
  const std::string y = contract(node, '+', {"r", "c", "p", "q"}, result, body);
  const std::string there =
      node.let(fmt::format("{} && {}", reshaped(down.inside, {count, 1, crop[0], 1}),
                           reshaped(right.inside, {count, 1, 1, crop[1]})));
  return node.result(
      0, stria::onnx::cast(fmt::format("({} ? {} : {})", there, y, literal(outside)), type));
}

}  // namespace stria::onnx::operators
