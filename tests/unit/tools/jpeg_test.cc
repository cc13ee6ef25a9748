// SPDX-License-Identifier: Apache-2.0
// JPEG: pictures are written here with libjpeg directly, and read back.
#include "stria/tensor_io/jpeg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// Behind <cstdio>, which it needs.
#include <jpeglib.h>

namespace stria {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct How {
  int channels = 3;
  J_COLOR_SPACE space = JCS_RGB;
  bool progressive = false;
};
std::string encode(unsigned width, unsigned height, const std::vector<uint8_t>& pixels, How how) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&jpeg, &bytes, &count);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = how.channels;
  jpeg.in_color_space = how.space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  for (int c = 0; c < jpeg.num_components; ++c)
    jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  if (how.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  for (unsigned y = 0; y < height; ++y) {
    auto* row =
        const_cast<uint8_t*>(pixels.data()) + y * width * static_cast<unsigned>(how.channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string out(reinterpret_cast<char*>(bytes), count);
  std::free(bytes);
  return out;
}

std::string failure(std::string_view bytes, DataType type = DataType::fp32) {
  auto result = parse_jpeg(bytes, "p.jpg", type);
  return result.ok() ? "ok" : result.status().message();
}

// 16 x 8 pixels: an orange half and a blue one, each a block, which the transform keeps nearly.
std::vector<uint8_t> halves() {
  std::vector<uint8_t> out;
  for (int p = 0; p < 16 * 8; ++p)
    for (const int value :
         p % 16 < 8 ? std::vector<int>{250, 120, 10} : std::vector<int>{20, 40, 200})
      out.push_back(static_cast<uint8_t>(value));
  return out;
}

TEST(Jpeg, ColoursAndGrey) {
  for (const bool progressive : {false, true}) {
    const std::string file = encode(16, 8, halves(), {.progressive = progressive});
    auto u8 = parse_jpeg(file, "p.jpg", DataType::u8);
    ASSERT_TRUE(u8.ok()) << u8.status().message();
    EXPECT_THAT(u8->sizes(), ElementsAre(8, 16, 3));
    auto fp32 = parse_jpeg(file, "p.jpg", DataType::fp32);
    const auto* bytes = reinterpret_cast<const uint8_t*>(u8->data());
    const auto* floats = reinterpret_cast<const float*>(fp32->data());
    const std::vector<uint8_t> wanted = halves();
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(bytes[i], wanted[i], 2) << i;
      EXPECT_EQ(floats[i], static_cast<float>(bytes[i]) / 255.0f);
    }
  }
  const std::string grey =
      encode(8, 8, std::vector<uint8_t>(64, 77), {.channels = 1, .space = JCS_GRAYSCALE});
  auto u8 = parse_jpeg(grey, "p.jpg", DataType::u8);
  ASSERT_TRUE(u8.ok()) << u8.status().message();
  EXPECT_THAT(u8->sizes(), ElementsAre(8, 8, 1));
  EXPECT_THAT(std::vector<uint8_t>(u8->bytes().begin(), u8->bytes().end()), Each(77));
}

TEST(Jpeg, WhatIsWrongWithFiles) {
  const std::string file = encode(16, 8, halves(), {});
  for (size_t length = 0; length + 2 < file.size(); ++length)
    EXPECT_NE(failure(file.substr(0, length)), "ok") << length;
  EXPECT_THAT(failure(file.substr(0, file.size() - 20)), HasSubstr("'p.jpg' is truncated"));
  EXPECT_THAT(failure("GIF89a and so on"), HasSubstr("'p.jpg' is not a JPEG file"));
  EXPECT_THAT(failure(""), HasSubstr("is not a JPEG"));
  EXPECT_THAT(failure(file, DataType::u16), HasSubstr("fp32 or u8, not as u16"));
  EXPECT_THAT(
      failure(encode(8, 8, std::vector<uint8_t>(256, 9), {.channels = 4, .space = JCS_CMYK})),
      HasSubstr("printing inks"));
  // A header that claims 65,500 x 65,500 pixels: no memory is taken for them.
  std::string large = file;
  const size_t frame = large.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  large.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_THAT(failure(large), HasSubstr("cannot hold 65500 x 65500 pixels"));
}

// Any byte that is wrong: a picture or one message, and no more.
TEST(Jpeg, DamagedBytes) {
  const std::string file = encode(16, 8, halves(), {.progressive = true});
  for (size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(~damaged[at]);
    EXPECT_FALSE(failure(damaged).empty());
  }
}

}  // namespace
}  // namespace stria
