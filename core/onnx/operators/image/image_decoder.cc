// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: a picture file among the elements of a tensor. Its size is in the file, so that the
// file must be known.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "stria/onnx/operators/image/plain_picture.h"
#include "stria/onnx/translate/operator.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

// Brightness as television has it (ITU-R BT.601), in 65536ths.
constexpr std::array<uint32_t, 3> kBrightness = {19595, 38470, 7471};

}  // namespace

Status image_decoder(NodeWriter& node) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> file, node.known(0));
  STRIA_ASSIGN(const std::string format, node.string_attribute("pixel_format", "RGB"));
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return node.error(fmt::format("pixel_format '{}'", format));
  if (file->type() != DataType::u8)
    return node.error(fmt::format("a file of elements of type {}", name_of(file->type())));
  auto plain = parse_plain_picture(file->bytes());
  if (!plain.ok()) return node.not_supported(plain.status().message());
  std::optional<HostTensor> picture = std::move(*plain);
  if (!picture) {
    const ImageReader& read = node.graph().options().read_image;
    if (!read) return node.not_supported("pictures of this kind, where nothing reads them");
    auto made = read(file->bytes());
    if (!made.ok()) return node.not_supported(made.status().message());
    picture = std::move(*made);
  }
  // [height, width, 1 to 4]: grey or colours, and how opaque it is, which is left out.
  const std::vector<int64_t>& sizes = picture->sizes();
  const int64_t pixels = sizes[0] * sizes[1], channels = sizes[2];
  const bool is_grey = channels < 3;
  const int64_t made = format == "Grayscale" ? 1 : 3;
  STRIA_ASSIGN(HostTensor out,
               HostTensor::create(DataType::u8, {sizes[0], sizes[1], made}, "picture"));
  const auto* from = reinterpret_cast<const uint8_t*>(picture->data());
  auto* to = reinterpret_cast<uint8_t*>(out.data());
  for (int64_t p = 0; p < pixels; ++p) {
    const auto channel = [&](int64_t c) { return from[p * channels + (is_grey ? 0 : c)]; };
    if (made == 3) {
      for (int64_t c = 0; c < 3; ++c) to[p * 3 + c] = channel(format == "RGB" ? c : 2 - c);
      continue;
    }
    uint32_t brightness = 1 << 15;
    for (int64_t c = 0; c < 3; ++c) brightness += kBrightness[static_cast<size_t>(c)] * channel(c);
    to[p] = static_cast<uint8_t>(brightness >> 16);
  }
  return node.result_known(0, std::move(out));
}

}  // namespace stria::onnx::operators
