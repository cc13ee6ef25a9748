// SPDX-License-Identifier: Apache-2.0
#include "stria/tensor_io/picture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

using Layout = PictureOptions::Layout;
constexpr int64_t kMaxSide = 65536;  // pixels

constexpr std::pair<const char*, Layout> kLayouts[] = {
    {"nchw", Layout::nchw}, {"nhwc", Layout::nhwc}, {"chw", Layout::chw}, {"hwc", Layout::hwc}};

const float* floats(const HostTensor& tensor) {
  return reinterpret_cast<const float*>(tensor.data());
}
float* floats(HostTensor& tensor) { return reinterpret_cast<float*>(tensor.data()); }

Result<HostTensor> make_picture(int64_t height, int64_t width, int64_t channels) {
  return HostTensor::create(DataType::fp32, {height, width, channels}, "a picture");
}

// ---- options

Result<std::vector<int64_t>> parse_sides(const std::string& text) {
  std::vector<int64_t> out;
  for (const std::string& part : split(text, ',')) {
    STRIA_ASSIGN(const int64_t side, parse_integer(part, 1, kMaxSide));
    out.push_back(side);
  }
  if (out.size() > 2) return invalid_argument("is one number or HEIGHT,WIDTH");
  return out;
}

Result<std::vector<double>> parse_numbers(const std::string& text) {
  constexpr double kMost = 1e30;
  std::vector<double> out;
  for (const std::string& part : split(text, ',')) {
    STRIA_ASSIGN(const double number, parse_number(part, -kMost, kMost));
    out.push_back(number);
  }
  return out;
}

Status take_option(const std::string& key, const std::string& value, PictureOptions& out) {
  if (key == "size") {
    STRIA_ASSIGN(out.size, parse_sides(value));
  } else if (key == "crop") {
    STRIA_ASSIGN(out.crop, parse_sides(value));
  } else if (key == "scale") {
    STRIA_ASSIGN(const std::vector<double> numbers, parse_numbers(value));
    if (numbers.size() != 1) return invalid_argument("is one number");
    out.scale = numbers[0];
  } else if (key == "mean") {
    STRIA_ASSIGN(out.mean, parse_numbers(value));
  } else if (key == "std") {
    STRIA_ASSIGN(out.std, parse_numbers(value));
    if (std::find(out.std.begin(), out.std.end(), 0.0) != out.std.end())
      return invalid_argument("0 is nothing to divide by");
  } else if (key == "order") {
    if (value != "rgb" && value != "bgr") return invalid_argument("is rgb or bgr");
    out.bgr = value == "bgr";
  } else if (key == "layout") {
    for (const auto& [name, layout] : kLayouts)
      if (value == name) out.layout = layout;
    if (out.layout == Layout::unsaid) return invalid_argument("is nchw, nhwc, chw or hwc");
  } else {
    if (value != "drop") return invalid_argument("is drop, or not said");
    out.drop_alpha = true;
  }
  return {};
}

// ---- what the target wants

struct Wanted {
  Layout layout = Layout::hwc;
  bool grey_plane = false;  // [H, W]
  std::optional<int64_t> height, width, channels;
};

std::string text_of(const std::vector<std::optional<int64_t>>& dims) {
  std::vector<std::string> out;
  for (const auto& dim : dims) out.push_back(dim ? std::to_string(*dim) : "?");
  return fmt::format("[{}]", fmt::join(out, ", "));
}

bool may_be_channels(const std::optional<int64_t>& dim) {
  return dim && (*dim == 1 || *dim == 3 || *dim == 4);
}

Result<Wanted> wanted_of(const PictureOptions& options, const PictureTarget& target) {
  Wanted out;
  if (!target.has_dims) {
    if (options.layout != Layout::unsaid) out.layout = options.layout;
    return out;
  }
  const std::vector<std::optional<int64_t>>& dims = target.dims;
  if (dims.size() == 2 && options.layout == Layout::unsaid) {
    out.grey_plane = true;
    out.channels = 1;
    out.height = dims[0];
    out.width = dims[1];
    return out;
  }
  if (dims.size() != 3 && dims.size() != 4)
    return invalid_argument("a picture has 3 dimensions, or 4 with the batch; the model says {}",
                            text_of(dims));
  const bool batch = dims.size() == 4;
  const size_t first = batch ? 1 : 0;
  out.layout = options.layout;
  if (out.layout == Layout::unsaid) {
    const bool begin = may_be_channels(dims[first]), end = may_be_channels(dims.back());
    if (begin == end)
      return invalid_argument(
          "the model says {}: which dimension is that of the channels? Say "
          "layout={} or layout={}",
          text_of(dims), batch ? "nchw" : "chw", batch ? "nhwc" : "hwc");
    out.layout =
        begin ? (batch ? Layout::nchw : Layout::chw) : (batch ? Layout::nhwc : Layout::hwc);
  }
  const bool with_batch = out.layout == Layout::nchw || out.layout == Layout::nhwc;
  if (with_batch != batch)
    return invalid_argument("the model says {}: a layout of {} dimensions does not fit",
                            text_of(dims), with_batch ? 4 : 3);
  if (batch && dims[0].value_or(1) != 1)
    return invalid_argument("the model says {}: it takes {} pictures at once", text_of(dims),
                            *dims[0]);
  const bool channels_first = out.layout == Layout::nchw || out.layout == Layout::chw;
  out.channels = dims[channels_first ? first : first + 2];
  out.height = dims[channels_first ? first + 1 : first];
  out.width = dims[channels_first ? first + 2 : first + 1];
  return out;
}

// ---- the steps

// Each pixel's channels as a function of what they were.
template <typename Map>
Result<HostTensor> mapped(const HostTensor& picture, int64_t channels, const Map& map) {
  const int64_t before = picture.sizes()[2];
  STRIA_ASSIGN(HostTensor out, make_picture(picture.sizes()[0], picture.sizes()[1], channels));
  const int64_t pixels = picture.sizes()[0] * picture.sizes()[1];
  for (int64_t p = 0; p < pixels; ++p)
    map(floats(picture) + p * before, floats(out) + p * channels);
  return out;
}

Result<HostTensor> with_channels(HostTensor picture, const PictureOptions& options,
                                 const std::optional<int64_t>& wanted) {
  int64_t have = picture.sizes()[2];
  const bool has_alpha = have == 2 || have == 4;
  if (has_alpha && options.drop_alpha) {
    const int64_t colours = have - 1;
    STRIA_ASSIGN(picture, mapped(picture, colours, [colours](const float* from, float* to) {
                   std::copy(from, from + colours, to);
                 }));
    have = colours;
  }
  if (!wanted || *wanted == have) return picture;
  if (has_alpha && !options.drop_alpha && (*wanted == 1 || *wanted == 3))
    return invalid_argument(
        "the picture has an alpha channel, and the model takes {}: say "
        "alpha=drop to leave it out",
        *wanted == 1 ? "grey" : "three colours");
  if (have == 1 && *wanted == 3)
    return mapped(picture, 3, [](const float* from, float* to) { std::fill(to, to + 3, *from); });
  if (have == 3 && *wanted == 1)
    return mapped(picture, 1, [](const float* from, float* to) {
      *to = 0.299f * from[0] + 0.587f * from[1] + 0.114f * from[2];
    });
  return invalid_argument("the picture has {} channels, the model takes {}", have, *wanted);
}

// Weights of the pixels of a row or column for one new pixel.
struct Taps {
  int64_t first = 0;
  std::vector<double> weights;  // their sum is 1
};

std::vector<Taps> taps_of(int64_t before, int64_t after) {
  const double ratio = static_cast<double>(before) / static_cast<double>(after);
  const double reach = std::max(ratio, 1.0);  // where the weights have fallen to 0, in old pixels
  std::vector<Taps> out(static_cast<size_t>(after));
  for (int64_t i = 0; i < after; ++i) {
    Taps& taps = out[static_cast<size_t>(i)];
    const double middle = (static_cast<double>(i) + 0.5) * ratio;
    taps.first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(middle - reach)));
    const int64_t end = std::min(before, static_cast<int64_t>(std::ceil(middle + reach)));
    double sum = 0;
    for (int64_t p = taps.first; p < end; ++p) {
      const double away = std::abs(static_cast<double>(p) + 0.5 - middle) / reach;
      taps.weights.push_back(std::max(0.0, 1 - away));
      sum += taps.weights.back();
    }
    for (double& weight : taps.weights) weight /= sum;
  }
  return out;
}

// Along one dimension of [outer, before, inner].
void resize_along(const float* from, float* to, int64_t outer, int64_t before, int64_t after,
                  int64_t inner) {
  const std::vector<Taps> taps = taps_of(before, after);
  std::vector<double> sum(static_cast<size_t>(inner));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < after; ++i) {
      const Taps& tap = taps[static_cast<size_t>(i)];
      std::fill(sum.begin(), sum.end(), 0.0);
      for (size_t t = 0; t < tap.weights.size(); ++t) {
        const float* row = from + (o * before + tap.first + static_cast<int64_t>(t)) * inner;
        for (int64_t k = 0; k < inner; ++k) sum[static_cast<size_t>(k)] += tap.weights[t] * row[k];
      }
      for (int64_t k = 0; k < inner; ++k)
        to[(o * after + i) * inner + k] = static_cast<float>(sum[static_cast<size_t>(k)]);
    }
}

Result<HostTensor> with_size(HostTensor picture, const PictureOptions& options,
                             const Wanted& wanted) {
  const int64_t height = picture.sizes()[0], width = picture.sizes()[1];
  int64_t new_height = height, new_width = width;
  const auto ratio = [](int64_t side, int64_t other, int64_t known) {
    return std::max<int64_t>(1, side * other / known);
  };
  if (options.size.size() == 2) {
    new_height = options.size[0];
    new_width = options.size[1];
  } else if (options.size.size() == 1) {
    const int64_t side = options.size[0];
    new_height = height <= width ? side : ratio(side, height, width);
    new_width = height <= width ? ratio(side, width, height) : side;
  } else if (options.crop.empty()) {
    if (wanted.height || wanted.width) {
      new_height = wanted.height ? *wanted.height : ratio(*wanted.width, height, width);
      new_width = wanted.width ? *wanted.width : ratio(*wanted.height, width, height);
    }
  }
  return resized(picture, new_height, new_width);
}

Result<HostTensor> cropped(HostTensor picture, const PictureOptions& options) {
  if (options.crop.empty()) return picture;
  const int64_t height = options.crop[0], width = options.crop.back();
  const int64_t had_height = picture.sizes()[0], had_width = picture.sizes()[1];
  const int64_t channels = picture.sizes()[2];
  if (height > had_height || width > had_width)
    return invalid_argument("crop={},{} is more than the picture has then: {} x {} pixels", height,
                            width, had_height, had_width);
  const auto half = [](int64_t left) {
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(left) / 2));
  };
  const int64_t top = half(had_height - height), left = half(had_width - width);
  STRIA_ASSIGN(HostTensor out, make_picture(height, width, channels));
  for (int64_t y = 0; y < height; ++y) {
    const float* row = floats(picture) + ((top + y) * had_width + left) * channels;
    std::copy(row, row + width * channels, floats(out) + y * width * channels);
  }
  return out;
}

Status check_size(const HostTensor& picture, const Wanted& wanted) {
  const int64_t height = picture.sizes()[0], width = picture.sizes()[1];
  if (wanted.height.value_or(height) == height && wanted.width.value_or(width) == width) return {};
  const int64_t to_height = wanted.height.value_or(height), to_width = wanted.width.value_or(width);
  const bool crop = height >= to_height && width >= to_width;
  return invalid_argument(
      "the picture becomes {} x {} pixels (height x width), the model takes {} "
      "x {}: say {}={},{}",
      height, width, to_height, to_width, crop ? "crop" : "size", to_height, to_width);
}

Status check_channel_numbers(const char* what, const std::vector<double>& numbers,
                             int64_t channels) {
  if (numbers.size() <= 1 || static_cast<int64_t>(numbers.size()) == channels) return {};
  return invalid_argument("{} has {} numbers, the picture has {} channels", what, numbers.size(),
                          channels);
}

Scalar element(DataType type, double value) {
  if (is_float(type)) return Scalar::of_float(type, value);
  return convert(Scalar::of_float(DataType::fp64, std::nearbyint(value)), type);
}

}  // namespace

Result<PictureOptions> parse_picture_options(const std::vector<std::string>& texts) {
  const std::vector<std::string> keys = {"size", "crop",  "scale",  "mean",
                                         "std",  "order", "layout", "alpha"};
  PictureOptions out;
  std::set<std::string> given;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return invalid_argument("there is no '{}'{} (there are: {})", shown_name(key),
                              did_you_mean(key, keys), join(keys, ", "));
    if (equals == std::string::npos) return invalid_argument("'{}' is without =VALUE", key);
    if (!given.insert(key).second) return invalid_argument("{} is given twice", key);
    STRIA_RETURN_IF_ERROR(
        take_option(key, text.substr(equals + 1), out).with_context("'" + shown_name(text) + "'"));
  }
  return out;
}

Result<HostTensor> resized(const HostTensor& picture, int64_t height, int64_t width) {
  const std::vector<int64_t>& sizes = picture.sizes();
  if (sizes[0] == 0 || sizes[1] == 0) return invalid_argument("the picture has no pixels");
  // Along a dimension that stays, each weight is 1.
  STRIA_ASSIGN(HostTensor wide, make_picture(sizes[0], width, sizes[2]));
  resize_along(floats(picture), floats(wide), sizes[0], sizes[1], width, sizes[2]);
  STRIA_ASSIGN(HostTensor out, make_picture(height, width, sizes[2]));
  resize_along(floats(wide), floats(out), 1, sizes[0], height, width * sizes[2]);
  return out;
}

Result<HostTensor> picture_tensor(const HostTensor& picture, const PictureOptions& options,
                                  const PictureTarget& target) {
  if (target.type == DataType::boolean)
    return invalid_argument("a picture cannot be an input of type bool");
  STRIA_ASSIGN(const Wanted wanted, wanted_of(options, target));
  STRIA_ASSIGN(HostTensor out, picture.clone());
  STRIA_ASSIGN(out, with_channels(std::move(out), options, wanted.channels));
  STRIA_ASSIGN(out, with_size(std::move(out), options, wanted));
  STRIA_ASSIGN(out, cropped(std::move(out), options));
  STRIA_RETURN_IF_ERROR(check_size(out, wanted));
  const int64_t height = out.sizes()[0], width = out.sizes()[1], channels = out.sizes()[2];
  STRIA_RETURN_IF_ERROR(check_channel_numbers("mean", options.mean, channels));
  STRIA_RETURN_IF_ERROR(check_channel_numbers("std", options.std, channels));

  const Layout layout = wanted.layout;
  const bool channels_first = layout == Layout::nchw || layout == Layout::chw;
  std::vector<int64_t> sizes = {height, width, channels};
  if (channels_first) sizes = {channels, height, width};
  if (wanted.grey_plane) sizes = {height, width};
  if (layout == Layout::nchw || layout == Layout::nhwc) sizes.insert(sizes.begin(), 1);
  STRIA_ASSIGN(HostTensor result, HostTensor::create(target.type, sizes, "a picture"));
  const auto number = [](const std::vector<double>& list, int64_t c, double otherwise) {
    return list.empty() ? otherwise : list.size() == 1 ? list[0] : list[static_cast<size_t>(c)];
  };
  const double scale = options.scale.value_or(is_float(target.type) ? 1.0 : 255.0);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t from = options.bgr && channels >= 3 && c < 3 ? 2 - c : c;
    const double mean = number(options.mean, c, 0), std = number(options.std, c, 1);
    for (int64_t p = 0; p < height * width; ++p) {
      // In fp32, where a file's 8 or 16 bits come back as they were.
      const float scaled = floats(out)[p * channels + from] * static_cast<float>(scale);
      store_scalar(target.type, result.data(),
                   channels_first ? c * height * width + p : p * channels + c,
                   element(target.type, (static_cast<double>(scaled) - mean) / std));
    }
  }
  return result;
}

}  // namespace stria
