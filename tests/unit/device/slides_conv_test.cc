// SPDX-License-Identifier: Apache-2.0
// The slides' convolution as a device program for the slides' accelerator: legal there, right in
// full where it is small, and tile by tile at the size of the slides.
#include <gtest/gtest.h>

#include <cstring>

#include "device_text.h"
#include "stria/base/file.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/stripe/walk.h"

namespace stria {
namespace {

using device_text::parsed;
using device_text::text_of;
using device_text::without_numbers;

HardwareModel accelerator(const TemplateSettings& settings = {}) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  auto model = load_hardware_model({path, read_file(path).value()}, settings);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return std::move(model).value();
}

Status verified(const stripe::Program& program, const HardwareModel& model) {
  const std::map<std::string, int64_t> units = model.units();
  stripe::VerifyOptions options;
  options.units = &units;
  stripe::VerifyReport report;
  Status status = stripe::verify(program, options, &report);
  EXPECT_EQ(report.unknown_accesses, 0);
  return status;
}

// The convolution's tensors, with numbers over the whole range of i8.
struct Tensors {
  int64_t size, in, out;
  std::vector<int8_t> image, weights;
  std::vector<int32_t> result;

  Tensors(int64_t pixels, int64_t channels_in, int64_t channels_out)
      : size(pixels), in(channels_in), out(channels_out) {
    uint32_t state = 1;
    const auto fill = [&](std::vector<int8_t>& values, int64_t count) {
      values.resize(static_cast<size_t>(count));
      for (int8_t& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<int8_t>(state >> 24);
      }
    };
    fill(image, size * size * in);
    fill(weights, 9 * in * out);
    result.assign(static_cast<size_t>(size * size * out), -1);
  }
  std::vector<interp::TensorArg> args() {
    return {{"I", image.data(), dense_shape(DataType::i8, {size, size, in})},
            {"K1", weights.data(), dense_shape(DataType::i8, {3, 3, in, out})},
            {"O1", result.data(), dense_shape(DataType::i32, {size, size, out})}};
  }
  int32_t got(int64_t x, int64_t y, int64_t co) const {
    return result[static_cast<size_t>((x * size + y) * out + co)];
  }
  // By its definition.
  int32_t expected(int64_t x, int64_t y, int64_t co) const {
    int32_t sum = 0;
    for (int64_t kx = 0; kx < 3; ++kx)
      for (int64_t ky = 0; ky < 3; ++ky) {
        const int64_t ix = x + kx - 1, iy = y + ky - 1;
        if (ix < 0 || iy < 0 || ix >= size || iy >= size) continue;
        for (int64_t ci = 0; ci < in; ++ci)
          sum += image[static_cast<size_t>((ix * size + iy) * in + ci)] *
                 weights[static_cast<size_t>(((kx * 3 + ky) * in + ci) * out + co)];
      }
    return sum;
  }
};

TEST(SlidesConv, IsLegalOnTheSlidesAccelerator) {
  const stripe::Program program = parsed("slides_conv.stripe");
  const Status status = verified(program, accelerator());
  EXPECT_TRUE(status.ok()) << status.to_string();
  // Points queue for units: with one unit both halves run on it. Banks that are not there are an
  // error.
  const Status queued = verified(program, accelerator({{"NUM_CONV", "1"}}));
  EXPECT_TRUE(queued.ok()) << queued.to_string();
  const HardwareModel banks = accelerator({{"NUM_SRAM", "6"}});
  EXPECT_NE(verified(program, banks).message().find("'SRAM[2 + 4*u]' is unit 2 to 6"),
            std::string::npos)
      << verified(program, banks).message();
}

// What a bank holds, with a copy for each tile under way.
TEST(SlidesConv, FitsIntoTheBanks) {
  const HardwareModel model = accelerator();
  const int64_t bank = model.find_memory("SRAM")->size_bytes;
  std::map<std::string, int64_t> bytes;
  stripe::visit_blocks(parsed("slides_conv.stripe").entry, [&](const stripe::Place& place) {
    for (const stripe::Refinement& ref : place.block->refs)
      if (ref.dir == stripe::RefDir::none && ref.location.path[0].name == "SRAM")
        bytes[ref.location.path[0].units[0].to_string()] +=
            ref.shape.span_bytes() * place.block->tags.integer("pipeline").value_or(1);
  });
  const std::map<std::string, int64_t> expected = {
      {"4*u", 2 * 36992}, {"1 + 4*u", 2 * 262144}, {"2 + 4*u", 18432}};
  EXPECT_EQ(bytes, expected);
  for (const auto& [name, size] : bytes) EXPECT_LE(size, bank) << name;
  EXPECT_EQ(model.find_executor("CONV")->pipeline_depth, 2);
}

TEST(SlidesConv, SmallOneIsRightInFull) {
  EXPECT_EQ(without_numbers(text_of("slides_conv_small.stripe")),
            without_numbers(text_of("slides_conv.stripe")));
  const stripe::Program program = parsed("slides_conv_small.stripe");
  const Status legal = verified(program, accelerator());
  EXPECT_TRUE(legal.ok()) << legal.to_string();
  Tensors tensors(16, 4, 8);
  const Status status = interp::interpret(program, tensors.args());
  ASSERT_TRUE(status.ok()) << status.to_string();
  for (int64_t x = 0; x < 16; ++x)
    for (int64_t y = 0; y < 16; ++y)
      for (int64_t co = 0; co < 8; ++co)
        ASSERT_EQ(tensors.got(x, y, co), tensors.expected(x, y, co)) << x << " " << y << " " << co;
}

// The program of the slides' size as it stands in the file, but for the tiles that it runs:
// constraints leave those of one place in each unit's half. Corners, the seam between the units,
// and the middle.
TEST(SlidesConv, IsRightTileByTile) {
  Tensors tensors(1024, 32, 64);
  for (const auto& [row, column] : {std::pair(0, 0), std::pair(15, 31), std::pair(7, 13)}) {
    stripe::Program program = parsed("slides_conv.stripe");
    stripe::Block& tiles = *program.main()->stmts[0].block()->stmts[1].block();
    ASSERT_EQ(tiles.tags.integer("pipeline"), 2);
    for (const auto& [index, value] : {std::pair("x", row), std::pair("y", column)}) {
      tiles.constraints.push_back(Affine::of(index) - value);
      tiles.constraints.push_back(Affine(value) - Affine::of(index));
    }
    interp::InterpOptions options;
    options.need_all_outputs = false;
    const Status status = interp::interpret(program, tensors.args(), options);
    ASSERT_TRUE(status.ok()) << status.to_string();
    uint32_t state = 1;
    for (int64_t unit = 0; unit < 2; ++unit)
      for (int n = 0; n < 4000; ++n) {
        state = state * 1664525u + 1013904223u;
        // Every fourth one on the tile's border.
        const int64_t a = state >> 27, b = n % 4 == 0 ? 31 * (n % 8 / 4) : state >> 22 & 31;
        const int64_t x = 512 * unit + 32 * row + (n % 16 < 8 ? a : b);
        const int64_t y = 32 * column + (n % 16 < 8 ? b : a), co = state >> 16 & 63;
        ASSERT_EQ(tensors.got(x, y, co), tensors.expected(x, y, co)) << x << " " << y << " " << co;
      }
  }
}

}  // namespace
}  // namespace stria
