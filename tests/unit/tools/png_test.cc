// SPDX-License-Identifier: Apache-2.0
// PNG: pictures of every depth and colour type are written here with libpng directly, with known
// samples, and read back.
#include "stria/tensor_io/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace stria {
namespace {

using testing::HasSubstr;

// A picture of `width` x `height` whose raw rows are given (packed as PNG packs them).
std::string encode(int width, int height, int depth, int colour,
                   const std::vector<std::string>& rows, bool interlaced = false,
                   bool transparent = false) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, size_t count) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), count);
      },
      [](png_structp) {});
  png_set_IHDR(png, info, width, height, depth, colour,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_color palette[2] = {{10, 20, 30}, {200, 100, 50}};
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  png_byte alpha[2] = {255, 0};
  png_color_16 key{};
  if (transparent)
    png_set_tRNS(png, info, alpha, 2, colour == PNG_COLOR_TYPE_PALETTE ? nullptr : &key);
  png_write_info(png, info);
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass)
    for (const std::string& row : rows)
      png_write_row(png, reinterpret_cast<png_const_bytep>(row.data()));
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

template <typename T>
std::vector<T> values(const HostTensor& tensor) {
  std::vector<T> out(static_cast<size_t>(tensor.element_count()));
  std::memcpy(out.data(), tensor.data(), tensor.byte_count());
  return out;
}
std::string failure(std::string_view bytes, DataType type = DataType::fp32) {
  auto result = parse_png(bytes, "p.png", type);
  return result.ok() ? "ok" : result.status().message();
}
using Sizes = std::vector<int64_t>;

TEST(Png, GreyOfEveryDepthIsStretchedTo255) {
  const struct {
    int depth;
    char row;
    std::vector<uint8_t> expected;  // two pixels
  } cases[] = {{1, '\x40', {0, 255}}, {2, '\x60', {85, 170}}, {4, '\x3f', {51, 255}}};
  for (const auto& c : cases) {
    auto tensor = parse_png(encode(2, 1, c.depth, PNG_COLOR_TYPE_GRAY, {std::string(1, c.row)}),
                            "p.png", DataType::u8);
    ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
    EXPECT_EQ(tensor->sizes(), (Sizes{1, 2, 1}));
    EXPECT_EQ(values<uint8_t>(*tensor), c.expected) << c.depth;
  }
}

TEST(Png, ColourTypesKeepTheirChannels) {
  const struct {
    int colour, channels;
  } cases[] = {{PNG_COLOR_TYPE_GRAY, 1},
               {PNG_COLOR_TYPE_GRAY_ALPHA, 2},
               {PNG_COLOR_TYPE_RGB, 3},
               {PNG_COLOR_TYPE_RGB_ALPHA, 4}};
  for (const auto& c : cases)
    for (bool interlaced : {false, true}) {
      std::vector<std::string> rows;
      std::string all;
      for (int y = 0; y < 9; ++y) {
        std::string row;
        for (int i = 0; i < 5 * c.channels; ++i) row += static_cast<char>(31 * y + 7 * i);
        rows.push_back(row);
        all += row;
      }
      auto u8 = parse_png(encode(5, 9, 8, c.colour, rows, interlaced), "p.png", DataType::u8);
      ASSERT_TRUE(u8.ok()) << u8.status().to_string();
      EXPECT_EQ(u8->sizes(), (Sizes{9, 5, c.channels}));
      EXPECT_EQ(u8->bytes(), all);
      auto fp32 = parse_png(encode(5, 9, 8, c.colour, rows, interlaced), "p.png", DataType::fp32);
      for (int64_t i = 0; i < fp32->element_count(); ++i)
        EXPECT_EQ(values<float>(*fp32)[i], static_cast<uint8_t>(all[i]) / 255.0f);
      auto u16 = parse_png(encode(5, 9, 8, c.colour, rows, interlaced), "p.png", DataType::u16);
      EXPECT_EQ(values<uint16_t>(*u16)[3], static_cast<uint8_t>(all[3]));
    }
}

TEST(Png, SixteenBits) {
  const std::string row("\x12\x34\xff\xff", 4);  // big-endian, as PNG stores them
  const std::string bytes = encode(2, 1, 16, PNG_COLOR_TYPE_GRAY, {row});
  EXPECT_EQ(values<uint16_t>(*parse_png(bytes, "p.png", DataType::u16)),
            (std::vector<uint16_t>{0x1234, 0xffff}));
  EXPECT_EQ(values<float>(*parse_png(bytes, "p.png", DataType::fp32)),
            (std::vector<float>{0x1234 / 65535.0f, 1.0f}));
  EXPECT_THAT(failure(bytes, DataType::u8), HasSubstr(":u16"));
}

TEST(Png, PaletteBecomesColours) {
  auto rgb = parse_png(encode(2, 1, 1, PNG_COLOR_TYPE_PALETTE, {"\x40"}), "p.png", DataType::u8);
  EXPECT_EQ(rgb->sizes(), (Sizes{1, 2, 3}));
  EXPECT_EQ(values<uint8_t>(*rgb), (std::vector<uint8_t>{10, 20, 30, 200, 100, 50}));
  auto rgba =
      parse_png(encode(2, 1, 8, PNG_COLOR_TYPE_PALETTE, {std::string("\0\1", 2)}, false, true),
                "p.png", DataType::u8);
  EXPECT_EQ(values<uint8_t>(*rgba), (std::vector<uint8_t>{10, 20, 30, 255, 200, 100, 50, 0}));
  auto keyed =
      parse_png(encode(2, 1, 8, PNG_COLOR_TYPE_GRAY, {std::string("\0\1", 2)}, false, true),
                "p.png", DataType::u8);
  EXPECT_EQ(values<uint8_t>(*keyed), (std::vector<uint8_t>{0, 0, 1, 255}));
}

TEST(Png, TruncatedAtEveryByteIsAnError) {
  const std::string whole =
      encode(3, 4, 8, PNG_COLOR_TYPE_RGB, std::vector<std::string>(4, "abcdefghi"));
  for (size_t length = 0; length < whole.size(); ++length) {
    std::vector<char> part(whole.begin(), whole.begin() + length);
    auto result = parse_png({part.data(), part.size()}, "p.png", DataType::fp32);
    ASSERT_FALSE(result.ok()) << length;
    EXPECT_THAT(result.status().message(), HasSubstr("'p.png'"));
    if (length >= 8) {
      EXPECT_THAT(result.status().message(), HasSubstr("truncated")) << length;
    }
  }
}

TEST(Png, EveryByteMayBeWrong) {
  const std::string whole =
      encode(3, 4, 8, PNG_COLOR_TYPE_RGB, std::vector<std::string>(4, "abcdefghi"));
  for (size_t at = 0; at < whole.size(); ++at)
    for (int value : {0, 1, 0x7f, 0xff}) {
      std::string bytes = whole;
      if (bytes[at] == static_cast<char>(value)) continue;
      bytes[at] = static_cast<char>(value);
      EXPECT_NE(failure(bytes), "ok") << at;  // checksums see every change
    }
}

TEST(Png, AHugeHeaderAsksForNoMemory) {
  // 2^31-1 x 2^31-1 pixels with a right checksum: signature and IHDR, then nothing.
  std::string bytes = encode(1, 1, 8, PNG_COLOR_TYPE_GRAY, {"a"});
  for (int i : {16, 20}) std::memcpy(&bytes[i], "\x7f\xff\xff\xff", 4);
  uint32_t crc = 0xffffffff;
  for (int i = 12; i < 29; ++i) {
    crc ^= static_cast<unsigned char>(bytes[i]);
    for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  crc = ~crc;
  for (int i = 0; i < 4; ++i) bytes[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  EXPECT_THAT(failure(bytes), HasSubstr("cannot hold 2147483647 x 2147483647 pixels"));
}

TEST(Png, OtherInputs) {
  EXPECT_THAT(failure(""), HasSubstr("not a PNG"));
  EXPECT_THAT(failure("hello, world"), HasSubstr("not a PNG"));
  EXPECT_THAT(failure("x", DataType::i32), HasSubstr("not as i32"));
}

HostTensor tensor_of(const std::vector<float>& numbers, Sizes sizes) {
  auto tensor = HostTensor::create(DataType::fp32, std::move(sizes), "t");
  std::memcpy(tensor->data(), numbers.data(), numbers.size() * sizeof(float));
  return std::move(*tensor);
}

TEST(Png, FloatsAreClampedAndRoundedHalfToEven) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  // 127.5 / 255 = 0.5 exactly: to 128; 0.5/255 and 1.5/255 are not exact in fp32.
  HostTensor tensor = tensor_of({-1, 0, 0.5f, 1, 2, nan, inf, -inf, 0.25f}, {3, 3});
  auto bytes = format_png(tensor, "o.png");
  ASSERT_TRUE(bytes.ok()) << bytes.status().to_string();
  EXPECT_EQ(values<uint8_t>(*parse_png(*bytes, "o.png", DataType::u8)),
            (std::vector<uint8_t>{0, 0, 128, 255, 255, 0, 255, 0, 64}));
  // Ties in fp64: 126.5 goes to 126, 127.5 to 128.
  auto wide = HostTensor::create(DataType::fp64, {1, 2}, "t");
  const double ties[] = {126.5 / 255, 127.5 / 255};
  ASSERT_EQ(ties[0] * 255, 126.5);
  std::memcpy(wide->data(), ties, sizeof ties);
  EXPECT_EQ(values<uint8_t>(*parse_png(*format_png(*wide, "o.png"), "o.png", DataType::u8)),
            (std::vector<uint8_t>{126, 128}));
}

TEST(Png, WritesIntegersAsTheyAre) {
  for (int64_t channels : {1, 3, 4})
    for (DataType type : {DataType::u8, DataType::u16}) {
      auto tensor = HostTensor::create(type, {3, 2, channels}, "t");
      for (size_t i = 0; i < tensor->byte_count(); ++i)
        tensor->data()[i] = static_cast<std::byte>(i * 37);
      auto bytes = format_png(*tensor, "o.png");
      ASSERT_TRUE(bytes.ok());
      auto back = parse_png(*bytes, "o.png", type);
      ASSERT_TRUE(back.ok()) << back.status().to_string();
      EXPECT_EQ(back->sizes(), tensor->sizes());
      EXPECT_EQ(back->bytes(), tensor->bytes());
    }
}

TEST(Png, RefusesOtherShapesAndTypes) {
  auto refuse = [](DataType type, Sizes sizes) {
    auto tensor = HostTensor::create(type, std::move(sizes), "t");
    auto bytes = format_png(*tensor, "o.png");
    return bytes.ok() ? "ok" : bytes.status().message();
  };
  EXPECT_THAT(refuse(DataType::fp32, {4}), HasSubstr("fp32[4] cannot be written as PNG"));
  EXPECT_THAT(refuse(DataType::fp32, {}), HasSubstr("cannot"));
  EXPECT_THAT(refuse(DataType::fp32, {2, 2, 2}), HasSubstr("cannot"));
  EXPECT_THAT(refuse(DataType::fp32, {0, 2}), HasSubstr("cannot"));
  EXPECT_THAT(refuse(DataType::fp32, {1, 2, 2, 3}), HasSubstr("cannot"));
  EXPECT_THAT(refuse(DataType::i32, {2, 2}), HasSubstr("i32[2, 2]"));
}

}  // namespace
}  // namespace stria
