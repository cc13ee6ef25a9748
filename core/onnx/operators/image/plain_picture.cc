// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/image/plain_picture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "stria/base/status.h"

namespace stria::onnx {
namespace {

using Parsed = Result<std::optional<HostTensor>>;

// So that no product of sizes and bytes exceeds 64 bits.
constexpr uint64_t kLongestSide = uint64_t{1} << 24;
constexpr uint64_t kMostStrips = uint64_t{1} << 20;

Status ends_early() { return make_error(StatusCode::data_loss, "the picture file ends too early"); }

// Integers of a file; 0 beyond its end, which the check of the pixels finds.
struct Fields {
  std::string_view bytes;
  bool big_endian = false;
  uint64_t at(uint64_t place, int count) const {
    if (place > bytes.size() || bytes.size() - place < static_cast<uint64_t>(count)) return 0;
    uint64_t out = 0;
    for (int b = 0; b < count; ++b) {
      const int shift = 8 * (big_endian ? count - 1 - b : b);
      out |= uint64_t{static_cast<uint8_t>(bytes[place + static_cast<uint64_t>(b)])} << shift;
    }
    return out;
  }
};

// Where the rows of a picture lie in its file.
struct Rows {
  uint64_t width = 0, height = 0, channels = 0;
  std::vector<uint64_t> begins;  // by row
  bool blue_first = false;
};

Parsed copied(std::string_view bytes, const Rows& rows) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(DataType::u8,
                                                  {static_cast<int64_t>(rows.height),
                                                   static_cast<int64_t>(rows.width),
                                                   static_cast<int64_t>(rows.channels)},
                                                  "picture"));
  const uint64_t row_bytes = rows.width * rows.channels;
  auto* to = reinterpret_cast<uint8_t*>(out.data());
  for (const uint64_t begin : rows.begins) {
    std::memcpy(to, bytes.data() + begin, row_bytes);
    if (rows.blue_first)
      for (uint64_t p = 0; p < row_bytes; p += rows.channels) std::swap(to[p], to[p + 2]);
    to += row_bytes;
  }
  return std::optional(std::move(out));
}

bool is_size(uint64_t size) { return size > 0 && size <= kLongestSide; }

// Do `count` bytes lie in the file at `begin`?
bool holds(std::string_view bytes, uint64_t begin, uint64_t count) {
  return begin <= bytes.size() && bytes.size() - begin >= count;
}

Parsed parse_bmp(std::string_view bytes) {
  const Fields fields{bytes};
  const auto signed_height = static_cast<int32_t>(fields.at(22, 4));
  const uint64_t bits = fields.at(28, 2), begin = fields.at(10, 4);
  Rows rows;
  rows.width = fields.at(18, 4);
  rows.height = static_cast<uint64_t>(std::abs(int64_t{signed_height}));
  rows.channels = bits / 8;
  rows.blue_first = true;
  if (!is_size(rows.width) || !is_size(rows.height) || (bits != 24 && bits != 32) ||
      fields.at(30, 4) != 0)
    return unsupported("a BMP file of other than 24 or 32 plain bits a pixel");
  const uint64_t stride = (rows.width * bits + 31) / 32 * 4;
  if (!holds(bytes, begin, stride * rows.height)) return ends_early();
  // As a rule the lowest row comes first.
  for (uint64_t y = 0; y < rows.height; ++y)
    rows.begins.push_back(begin + stride * (signed_height > 0 ? rows.height - 1 - y : y));
  return copied(bytes, rows);
}

Parsed parse_pnm(std::string_view bytes) {
  size_t at = 2;
  const auto number = [&]() -> uint64_t {
    while (at < bytes.size() && !(bytes[at] >= '0' && bytes[at] <= '9')) {
      if (bytes[at] == '#')
        while (at < bytes.size() && bytes[at] != '\n') ++at;
      else
        ++at;
    }
    uint64_t out = 0;
    for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9'; ++at)
      out = std::min<uint64_t>(out * 10 + static_cast<uint64_t>(bytes[at] - '0'), 1 << 30);
    return out;
  };
  Rows rows;
  rows.width = number();
  rows.height = number();
  rows.channels = bytes[1] == '5' ? 1 : 3;
  if (!is_size(rows.width) || !is_size(rows.height) || number() != 255)
    return unsupported("a PGM or PPM file of other than 8 bits a channel");
  const uint64_t stride = rows.width * rows.channels;
  ++at;
  if (!holds(bytes, at, stride * rows.height)) return ends_early();
  for (uint64_t y = 0; y < rows.height; ++y) rows.begins.push_back(at + stride * y);
  return copied(bytes, rows);
}

Parsed parse_tiff(std::string_view bytes) {
  const Fields fields{bytes, bytes[0] == 'M'};
  const uint64_t directory = fields.at(4, 4), count = fields.at(directory, 2);
  if (!holds(bytes, directory, 2 + 12 * count)) return ends_early();
  // The numbers of a field, which stand in the entry if there is room.
  const auto numbers = [&](uint64_t tag, uint64_t otherwise) {
    std::vector<uint64_t> out;
    for (uint64_t e = 0; e < count; ++e) {
      const uint64_t entry = directory + 2 + 12 * e;
      if (fields.at(entry, 2) != tag) continue;
      const int width = fields.at(entry + 2, 2) == 3 ? 2 : 4;
      const uint64_t length = std::min(fields.at(entry + 4, 4), kMostStrips);
      const bool inside = length * static_cast<uint64_t>(width) <= 4;
      const uint64_t begin = inside ? entry + 8 : fields.at(entry + 8, 4);
      const bool there = holds(bytes, begin, length * static_cast<uint64_t>(width));
      for (uint64_t k = 0; there && k < length; ++k)
        out.push_back(fields.at(begin + k * static_cast<uint64_t>(width), width));
      break;
    }
    if (out.empty()) out.push_back(otherwise);
    return out;
  };
  Rows rows;
  rows.width = numbers(256, 0)[0];
  rows.height = numbers(257, 0)[0];
  rows.channels = numbers(277, 1)[0];
  bool plain = numbers(259, 1)[0] == 1 && numbers(284, 1)[0] == 1;
  for (const uint64_t bits : numbers(258, 1)) plain = plain && bits == 8;
  const uint64_t colours = numbers(262, 0)[0];
  plain = plain && (colours == 1 || (colours == 2 && rows.channels >= 3));
  if (!is_size(rows.width) || !is_size(rows.height) || rows.channels < 1 || rows.channels > 4 ||
      !plain)
    return unsupported("a TIFF file of other than 8 plain bits a channel");
  const std::vector<uint64_t> strips = numbers(273, bytes.size());
  const uint64_t in_strip = std::max<uint64_t>(numbers(278, rows.height)[0], 1);
  const uint64_t stride = rows.width * rows.channels;
  // Strips may share bytes, but a file with as many pixels as it claims has room for them.
  if (!holds(bytes, 0, stride * rows.height)) return ends_early();
  for (uint64_t y = 0; y < rows.height; ++y) {
    if (y / in_strip >= strips.size()) return ends_early();
    const uint64_t begin = strips[y / in_strip] + stride * (y % in_strip);
    if (!holds(bytes, begin, stride)) return ends_early();
    rows.begins.push_back(begin);
  }
  return copied(bytes, rows);
}

}  // namespace

Parsed parse_plain_picture(std::string_view bytes) {
  if (bytes.starts_with("BM")) return parse_bmp(bytes);
  if (bytes.starts_with("P5") || bytes.starts_with("P6")) return parse_pnm(bytes);
  if (bytes.starts_with(std::string_view("II*\0", 4)) ||
      bytes.starts_with(std::string_view("MM\0*", 4)))
    return parse_tiff(bytes);
  return std::optional<HostTensor>();
}

}  // namespace stria::onnx
