// SPDX-License-Identifier: Apache-2.0
// Pictures on their way into models, against numbers computed by hand.
#include "stria/tensor_io/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "stria/type/scalar.h"

namespace stria {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

HostTensor picture(std::vector<int64_t> sizes, const std::vector<float>& values) {
  HostTensor out = HostTensor::create(DataType::fp32, std::move(sizes), "p").value();
  EXPECT_EQ(out.byte_count(), values.size() * sizeof(float));
  std::memcpy(out.data(), values.data(), out.byte_count());
  return out;
}

std::vector<double> values(const HostTensor& tensor) {
  std::vector<double> out;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    out.push_back(load_scalar(tensor.type(), tensor.data(), i).to_double());
  return out;
}

using Dims = std::vector<std::optional<int64_t>>;
PictureTarget target(Dims dims, DataType type = DataType::fp32) {
  return {type, true, std::move(dims)};
}

HostTensor made(const HostTensor& from, const std::vector<std::string>& options,
                const PictureTarget& to) {
  auto parsed = parse_picture_options(options);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  auto out = picture_tensor(from, *parsed, to);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : HostTensor();
}
std::string failure(const HostTensor& from, const std::vector<std::string>& options,
                    const PictureTarget& to) {
  auto out = picture_tensor(from, parse_picture_options(options).value(), to);
  return out.ok() ? "" : out.status().message();
}
std::string failure(const std::vector<std::string>& options) {
  auto out = parse_picture_options(options);
  return out.ok() ? "" : out.status().message();
}

MATCHER(IsNear, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-6; }

TEST(Resized, LargerIsLinearBetweenMiddles) {
  // Middles of the new pixels: 0.25, 0.75, 1.25, 1.75; of the old: 0.5 and 1.5.
  EXPECT_THAT(values(resized(picture({1, 2, 1}, {0, 1}), 1, 4).value()),
              Pointwise(IsNear(), {0.0, 0.25, 0.75, 1.0}));
  EXPECT_THAT(values(resized(picture({2, 1, 1}, {0, 1}), 4, 1).value()),
              Pointwise(IsNear(), {0.0, 0.25, 0.75, 1.0}));
}

TEST(Resized, SmallerIsAMeanWithWeightsThatFall) {
  // Two of four: the middles are 1 and 3, weights 1 - |p + 0.5 - middle| / 2 of pixels 0 to 2 and
  // 1 to 3: 0.75 0.75 0.25 and 0.25 0.75 0.75, each over 1.75.
  EXPECT_THAT(values(resized(picture({1, 4, 1}, {1, 0, 0, 0}), 1, 2).value()),
              Pointwise(IsNear(), {0.75 / 1.75, 0.0}));
  EXPECT_THAT(values(resized(picture({1, 4, 1}, {0, 1, 0, 0}), 1, 2).value()),
              Pointwise(IsNear(), {0.75 / 1.75, 0.25 / 1.75}));
  // All pixels count: 1 of 4 has weights 0.625 0.875 0.875 0.625 over 3.
  EXPECT_THAT(values(resized(picture({4, 1, 1}, {1, 0, 0, 0}), 1, 1).value()),
              Pointwise(IsNear(), {0.625 / 3}));
}

TEST(Resized, SameSizeIsTheSame) {
  const HostTensor from = picture({2, 2, 2}, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f});
  EXPECT_EQ(resized(from, 2, 2).value().bytes(), from.bytes());
}

// 1 x 2 pixels: (0.2, 0.4, 0.6) and (0.6, 0.8, 1).
HostTensor colours() { return picture({1, 2, 3}, {0.2f, 0.4f, 0.6f, 0.6f, 0.8f, 1}); }

TEST(PictureTensor, LayoutIsReadOffTheSizes) {
  HostTensor out = made(colours(), {}, target({1, 3, std::nullopt, std::nullopt}));
  EXPECT_THAT(out.sizes(), ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(values(out), Pointwise(IsNear(), {0.2, 0.6, 0.4, 0.8, 0.6, 1.0}));
  out = made(colours(), {}, target({std::nullopt, std::nullopt, std::nullopt, 3}));
  EXPECT_THAT(out.sizes(), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(values(out), Pointwise(IsNear(), {0.2, 0.4, 0.6, 0.6, 0.8, 1.0}));
  EXPECT_THAT(made(colours(), {}, target({3, 1, 2})).sizes(), ElementsAre(3, 1, 2));
  EXPECT_THAT(made(colours(), {}, PictureTarget()).sizes(), ElementsAre(1, 2, 3));
  EXPECT_THAT(made(colours(), {"layout=nchw"}, PictureTarget()).sizes(), ElementsAre(1, 3, 1, 2));
  // Open or twice 3: it has to be said.
  const Dims open(4);
  EXPECT_THAT(failure(colours(), {}, target(open)),
              HasSubstr("[?, ?, ?, ?]: which dimension is that of the channels? Say layout=nchw"));
  EXPECT_THAT(failure(colours(), {}, target({1, 3, 3, 3})), HasSubstr("layout=nhwc"));
  EXPECT_THAT(made(colours(), {"layout=nhwc"}, target(open)).sizes(), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(failure(colours(), {"layout=chw"}, target(open)), HasSubstr("does not fit"));
  EXPECT_THAT(failure(colours(), {}, target({2, 3, 1, 2})), HasSubstr("2 pictures at once"));
  EXPECT_THAT(failure(colours(), {}, target({1, 1, 3, 1, 2})), HasSubstr("[1, 1, 3, 1, 2]"));
}

TEST(PictureTensor, OrderScaleMeanAndStd) {
  const PictureTarget to = target({1, 3, 1, 2});
  EXPECT_THAT(values(made(colours(), {"order=bgr"}, to)),
              Pointwise(IsNear(), {0.6, 1.0, 0.4, 0.8, 0.2, 0.6}));
  // Numbers for channels are in the model's order: the first is that of blue.
  EXPECT_THAT(values(made(colours(), {"order=bgr", "mean=0.1,0.2,0.3", "std=1,2,4"}, to)),
              Pointwise(IsNear(), {0.5, 0.9, 0.1, 0.3, -0.025, 0.075}));
  EXPECT_THAT(values(made(colours(), {"scale=10", "mean=1", "std=2"}, to)),
              Pointwise(IsNear(), {0.5, 2.5, 1.5, 3.5, 2.5, 4.5}));
  EXPECT_THAT(failure(colours(), {"mean=1,2"}, to),
              HasSubstr("mean has 2 numbers, the picture has 3"));
}

TEST(PictureTensor, Types) {
  // 127.5 and 1.5 are rounded half to even, and what is outside ends at the limits.
  const HostTensor grey = picture({2, 2, 1}, {0.5f, 1.5f / 255, -1, 2});
  EXPECT_THAT(values(made(grey, {}, target({1, 1, 2, 2}, DataType::u8))),
              ElementsAre(128, 2, 0, 255));
  EXPECT_THAT(values(made(grey, {"scale=1"}, target({1, 1, 2, 2}, DataType::i8))),
              ElementsAre(0, 0, -1, 2));
  EXPECT_THAT(values(made(grey, {}, target({1, 1, 2, 2}, DataType::fp16)))[0], 0.5);
  // Whatever 8 bits a file had come back.
  std::vector<float> levels;
  for (int i = 0; i < 256; ++i) levels.push_back(static_cast<float>(i) / 255.0f);
  const HostTensor all = made(picture({16, 16, 1}, levels), {}, target({16, 16}, DataType::u8));
  const HostTensor scaled = made(picture({16, 16, 1}, levels), {"scale=255"}, target({16, 16}));
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(values(all)[static_cast<size_t>(i)], i);
    EXPECT_EQ(values(scaled)[static_cast<size_t>(i)], i);
  }
  EXPECT_THAT(failure(grey, {}, target({1, 1, 2, 2}, DataType::boolean)), HasSubstr("bool"));
}

TEST(PictureTensor, Channels) {
  EXPECT_THAT(values(made(colours(), {}, target({1, 1, 1, 2}))),
              Pointwise(IsNear(), {0.299 * 0.2 + 0.587 * 0.4 + 0.114 * 0.6,
                                   0.299 * 0.6 + 0.587 * 0.8 + 0.114}));
  EXPECT_THAT(made(colours(), {}, target({1, 2})).sizes(), ElementsAre(1, 2));
  EXPECT_THAT(values(made(picture({1, 1, 1}, {0.5f}), {"layout=nchw"}, target({1, 3, 1, 1}))),
              ElementsAre(0.5, 0.5, 0.5));
  const HostTensor with_alpha = picture({1, 1, 4}, {0.25f, 0.5f, 0.75f, 1});
  EXPECT_THAT(failure(with_alpha, {"layout=nchw"}, target({1, 3, 1, 1})),
              HasSubstr("say alpha=drop"));
  EXPECT_THAT(values(made(with_alpha, {"alpha=drop", "layout=nchw"}, target({1, 3, 1, 1}))),
              ElementsAre(0.25, 0.5, 0.75));
  EXPECT_THAT(values(made(with_alpha, {"order=bgr", "layout=nchw"}, target({1, 4, 1, 1}))),
              ElementsAre(0.75, 0.5, 0.25, 1));
  EXPECT_THAT(failure(colours(), {}, target({1, 4, 1, 2})),
              HasSubstr("the picture has 3 channels, the model takes 4"));
  EXPECT_THAT(values(made(picture({1, 1, 2}, {0.5f, 1}), {"alpha=drop", "layout=nchw"},
                          target({1, 3, 1, 1}))),
              ElementsAre(0.5, 0.5, 0.5));
}

TEST(PictureTensor, SizesAndCrops) {
  std::vector<float>
      rows;  // 4 x 6, the row and the column of each pixel as 0.1 * row + 0.01 * column
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x)
      rows.push_back(0.1f * static_cast<float>(y) + 0.01f * static_cast<float>(x));
  const HostTensor from = picture({4, 6, 1}, rows);
  // The model's own, without a word.
  EXPECT_THAT(made(from, {}, target({1, 1, 8, 2})).sizes(), ElementsAre(1, 1, 8, 2));
  // One of them open: the ratio stays.
  EXPECT_THAT(made(from, {}, target({1, 1, 8, std::nullopt})).sizes(), ElementsAre(1, 1, 8, 12));
  EXPECT_THAT(made(from, {}, target({1, 1, std::nullopt, 9})).sizes(), ElementsAre(1, 1, 6, 9));
  const PictureTarget open = target({1, 1, std::nullopt, std::nullopt});
  EXPECT_THAT(made(from, {"size=6"}, open).sizes(), ElementsAre(1, 1, 6, 9));
  EXPECT_THAT(made(from, {"size=3"}, open).sizes(), ElementsAre(1, 1, 3, 4));
  EXPECT_THAT(made(from, {"size=5,7"}, open).sizes(), ElementsAre(1, 1, 5, 7));
  EXPECT_THAT(values(made(from, {"crop=2"}, target({1, 1, 2, 2}))),
              Pointwise(IsNear(), {0.12, 0.13, 0.22, 0.23}));
  EXPECT_THAT(values(made(from, {"crop=1,2"}, open)), Pointwise(IsNear(), {0.22, 0.23}));
  EXPECT_THAT(failure(from, {"crop=5"}, open), HasSubstr("crop=5,5 is more than"));
  EXPECT_THAT(failure(from, {"size=4"}, target({1, 1, 4, 5})),
              HasSubstr("4 x 6 pixels (height x width), the model takes 4 x 5: say crop=4,5"));
  EXPECT_THAT(failure(from, {"crop=2"}, target({1, 1, 5, 5})), HasSubstr("say size=5,5"));
}

TEST(PictureOptions, WhatIsWrongWithThem) {
  EXPECT_THAT(failure({"sise=3"}), HasSubstr("there is no 'sise', did you mean 'size'"));
  EXPECT_THAT(failure({"size"}), HasSubstr("'size' is without =VALUE"));
  EXPECT_THAT(failure({"size=1,2,3"}), HasSubstr("HEIGHT,WIDTH"));
  EXPECT_THAT(failure({"size=0"}), HasSubstr("'size=0'"));
  EXPECT_THAT(failure({"crop=-1"}), HasSubstr("'crop=-1'"));
  EXPECT_THAT(failure({"scale=1,2"}), HasSubstr("one number"));
  EXPECT_THAT(failure({"mean=a"}), HasSubstr("'mean=a'"));
  EXPECT_THAT(failure({"std=1,0,1"}), HasSubstr("divide"));
  EXPECT_THAT(failure({"order=grb"}), HasSubstr("rgb or bgr"));
  EXPECT_THAT(failure({"layout=hw"}), HasSubstr("nchw"));
  EXPECT_THAT(failure({"alpha=keep"}), HasSubstr("drop"));
  EXPECT_THAT(failure({"size=2", "size=3"}), HasSubstr("twice"));
}

}  // namespace
}  // namespace stria
