// SPDX-License-Identifier: Apache-2.0
// The demo's photograph: edges.tile through the `stria` command, its PNG compared in size and
// histogram with what plain loops below compute from the definition.
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

struct Picture {
  int width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

Picture read_png(const std::string& path, bool gray) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
  Picture picture{static_cast<int>(image.width),
                  static_cast<int>(image.height),
                  static_cast<int>(PNG_IMAGE_SAMPLE_CHANNELS(image.format)),
                  {}};
  EXPECT_EQ(picture.channels, gray ? 1 : 3);
  picture.pixels.resize(PNG_IMAGE_SIZE(image));
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr));
  return picture;
}

using Plane = std::vector<double>;

// The program's meaning, pixel by pixel.
std::vector<uint8_t> expected_edges(const Picture& photo) {
  const int w = photo.width, h = photo.height;
  auto at = [w](Plane& plane, int y, int x) -> double& {
    return plane[static_cast<size_t>(y) * w + x];
  };
  Plane light(static_cast<size_t>(w) * h), mean = light, magnitude = light;
  for (size_t n = 0; n < light.size(); ++n)
    light[n] =
        (photo.pixels[3 * n] + photo.pixels[3 * n + 1] + photo.pixels[3 * n + 2]) / 255.0 / 3.0;
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      double sum = 0;
      int count = 0;
      for (int v = std::max(0, y - 2); v <= std::min(h - 1, y + 2); ++v)
        for (int u = std::max(0, x - 2); u <= std::min(w - 1, x + 2); ++u)
          sum += at(light, v, u), ++count;
      at(mean, y, x) = sum / count;
    }
  }
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      double gx = at(mean, y, std::min(x + 1, w - 1)) - at(mean, y, std::max(x - 1, 0));
      double gy = at(mean, std::min(y + 1, h - 1), x) - at(mean, std::max(y - 1, 0), x);
      at(magnitude, y, x) = std::sqrt(gx * gx + gy * gy);
    }
  }
  auto [low, high] = std::minmax_element(magnitude.begin(), magnitude.end());
  std::vector<uint8_t> out;
  for (double m : magnitude)
    out.push_back(static_cast<uint8_t>(std::lround((m - *low) / (*high - *low) * 255)));
  return out;
}

std::array<int, 256> histogram(const std::vector<uint8_t>& pixels) {
  std::array<int, 256> bins{};
  for (uint8_t p : pixels) ++bins[p];
  return bins;
}

TEST(Photo, EdgesHaveTheRightSizeAndHistogram) {
  const std::string photo_path = STRIA_SOURCE_DIR "/tools/demo/lake.png";
  Picture photo = read_png(photo_path, false);
  ASSERT_GE(photo.width * photo.height, 2000000);
  const std::vector<uint8_t> expected = expected_edges(photo);
  const auto expected_bins = histogram(expected);
  // The test itself can fail: the picture is not one flat colour.
  ASSERT_GT(std::count_if(expected_bins.begin(), expected_bins.end(), [](int n) { return n > 50; }),
            30);
  for (const char* device : {"llvm_cpu", "reference"}) {
    const std::string out = testing::TempDir() + "/stria_edges_" + device + ".png";
    std::filesystem::remove(out);
    const std::string command = std::string(STRIA_BINARY_DIR "/bin/stria run " STRIA_SOURCE_DIR
                                                             "/tools/demo/edges.tile --device ") +
                                device + " --input Photo=" + photo_path + " --output Edges=" + out;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    Picture edges = read_png(out, true);
    ASSERT_EQ(edges.width, photo.width);
    ASSERT_EQ(edges.height, photo.height);
    // fp32 sums may be reassociated: a pixel may land in the next bin, not further.
    int moved = 0;
    for (size_t n = 0; n < expected.size(); ++n) {
      int distance = std::abs(edges.pixels[n] - expected[n]);
      ASSERT_LE(distance, 1) << device << " pixel " << n;
      moved += distance;
    }
    EXPECT_LT(moved, 2000) << device;
    const auto bins = histogram(edges.pixels);
    for (int b = 0; b < 256; ++b)
      EXPECT_NEAR(bins[b], expected_bins[b], 20 + expected_bins[b] / 100) << device << " bin " << b;
  }
}

}  // namespace
