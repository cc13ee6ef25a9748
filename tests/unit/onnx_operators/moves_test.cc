// SPDX-License-Identifier: Apache-2.0
// Operators that move and choose elements, where the standard's cases do not reach: old versions,
// edges, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "evaluate_node.h"
#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Attribute integers(std::string name, std::vector<int64_t> values) {
  Attribute out;
  out.name = std::move(name);
  out.type = Attribute::Type::ints;
  out.ints = std::move(values);
  return out;
}

std::shared_ptr<const TensorData> list(std::string name, const std::vector<int64_t>& values) {
  return vector_input(std::move(name), ElementType::i64, values);
}

// 0, 1, 2, …
std::shared_ptr<const TensorData> counted(std::vector<int64_t> dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return initializer("X", ElementType::fp32, std::move(dims), values);
}

std::string outcome(const Result<EvaluatedOutput>& made) {
  if (!made.ok()) return made.status().message();
  std::string out;
  for (const double each : numbers(*made))
    out += (out.empty() ? "" : " ") + std::to_string(std::lround(each));
  return out;
}

TEST(Moves, SliceAsAttributesSay) {
  EXPECT_EQ(outcome(evaluate_node(
                "Slice", 9,
                {integers("starts", {1, -2}), integers("ends", {9, 9}), integers("axes", {0, -1})},
                {counted({2, 3})})),
            "4 5");
  EXPECT_EQ(
      outcome(evaluate_node("Slice", 7, {integers("starts", {0, 1}), integers("ends", {-1, 2})},
                            {counted({2, 3})})),
      "1");
}

TEST(Moves, SliceBackwardsToTheBeginning) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const auto slice = [](int64_t start, int64_t end, int64_t axis, int64_t step) {
    return outcome(evaluate_node("Slice", 13, {},
                                 {counted({5}), list("S", {start}), list("E", {end}),
                                  list("A", {axis}), list("P", {step})}));
  };
  EXPECT_EQ(slice(-1, kLeast, 0, -2), "4 2 0");
  EXPECT_EQ(slice(3, -100, -1, -1), "3 2 1 0");
  EXPECT_EQ(slice(4, 0, 0, kLeast), "4");
  EXPECT_EQ(slice(2, 2, 0, 1), "");
  EXPECT_THAT(slice(0, 1, 0, 0), HasSubstr("a step of 0"));
  EXPECT_THAT(slice(0, 1, 1, 1), HasSubstr("axis 1"));
}

TEST(Moves, SliceBackwardsOfNothingIsNothing) {
  const double end = static_cast<double>(std::numeric_limits<int64_t>::min());
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0}, std::vector<int64_t>{0, 2}}) {
    OneNode slice("Slice", 13);
    slice.input(sizes, {}).input({1}, {-1}, DataType::i64).input({1}, {end}, DataType::i64);
    slice.input({1}, {0}, DataType::i64).input({1}, {-1}, DataType::i64);
    const auto out = slice.run();
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ(slice.sizes(), sizes);
  }
}

// What is a list of integers later had the type of the data.
TEST(Moves, NumbersOfTheOldestVersions) {
  OneNode tile("Tile", 1);
  tile.input({2}, {1, 2}).input({1}, {3}).input({1}, {0});
  EXPECT_THAT(*tile.run(), ElementsAre(1, 2, 1, 2, 1, 2));
  OneNode split("Split", 1);
  split.input({3}, {1, 2, 3}).input({2}, {1, 2});
  EXPECT_THAT(*split.run(2), ElementsAre(1, 2, 3));
  EXPECT_THAT(OneNode("Tile", 1).input({1}, {1}).input({1}, {1.5}).input({1}, {0}).failure(),
              HasSubstr("is 1.5, no whole number"));
  EXPECT_THAT(OneNode("Tile", 13).input({1}, {1}).input({1}, {2}).failure(),
              HasSubstr("has type fp32, not integers"));
}

TEST(Moves, SplitAsAttributesSay) {
  const auto split = [](std::vector<int64_t> parts) {
    return outcome(evaluate_node("Split", 11,
                                 {integers("split", std::move(parts)), integer("axis", -1)},
                                 {counted({2, 2})}));
  };
  EXPECT_EQ(split({2}), "0 1 2 3");
  EXPECT_THAT(split({1}), HasSubstr("parts of [1]"));
}

TEST(Moves, PadAsAttributesSay) {
  Attribute value;
  value.name = "value";
  value.type = Attribute::Type::f;
  value.f = 7;
  EXPECT_EQ(
      outcome(evaluate_node("Pad", 2, {integers("pads", {0, 1, 1, -1}), value}, {counted({1, 2})})),
      "7 0 7 7");
  EXPECT_THAT(
      outcome(evaluate_node("Pad", 2, {integers("pads", {0, -3, 0, 0})}, {counted({1, 2})})),
      HasSubstr("axis 1 of 2 elements"));
}

TEST(Moves, PadsWiderThanTheTensor) {
  const auto pad = [](const char* mode) {
    return outcome(
        evaluate_node("Pad", 19, {text("mode", mode)}, {counted({3}), list("P", {5, 4})}));
  };
  EXPECT_EQ(pad("wrap"), "1 2 0 1 2 0 1 2 0 1 2 0");
  EXPECT_EQ(pad("reflect"), "1 0 1 2 1 0 1 2 1 0 1 2");
  EXPECT_EQ(pad("edge"), "0 0 0 0 0 0 1 2 2 2 2 2");
}

TEST(Moves, SizesBeyondSixtyFourBits) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_THAT(
      outcome(evaluate_node("Reshape", 13, {}, {counted({2}), list("S", {kHuge, kHuge, -1})})),
      HasSubstr("has more elements than 64 bits count"));
  EXPECT_THAT(outcome(evaluate_node("Tile", 13, {}, {counted({1, 4}), list("R", {1, kHuge})})),
              HasSubstr("axis 1 repeats 4611686018427387904 times, which 64 bits do not count"));
}

TEST(Moves, SqueezeAndUnsqueezeAsAttributesSay) {
  const auto sizes = [](const Result<EvaluatedOutput>& made) {
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? made->type.sizes : std::vector<int64_t>();
  };
  EXPECT_THAT(sizes(evaluate_node("Squeeze", 11, {integers("axes", {-1})}, {counted({1, 2, 1})})),
              ElementsAre(1, 2));
  EXPECT_THAT(sizes(evaluate_node("Unsqueeze", 11, {integers("axes", {0, -1})}, {counted({2})})),
              ElementsAre(1, 2, 1));
  EXPECT_THAT(outcome(evaluate_node("Unsqueeze", 13, {}, {counted({2}), list("A", {0, -3})})),
              HasSubstr("axis 0 stands twice"));
}

TEST(Index, TopKOfLongRows) {
  // Longer than what is compared at once, with equal elements and one that is no number.
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 1000);
  values[4321] = NAN;
  const auto best = [&](int64_t largest) {
    const Result<EvaluatedOutput> made =
        evaluate_node("TopK", 11, {integer("largest", largest)},
                      {vector_input("X", ElementType::fp32, values), list("K", {4})});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? numbers(*made) : std::vector<double>();
  };
  const std::vector<double> top = best(1);
  ASSERT_EQ(top.size(), 4U);
  EXPECT_TRUE(std::isnan(top[0]));
  EXPECT_THAT(std::vector<double>(top.begin() + 1, top.end()), ElementsAre(999, 999, 999));
  EXPECT_THAT(best(0), ElementsAre(0, 0, 0, 0));
}

TEST(Index, ScatterOfNothing) {
  const auto made = evaluate_node("ScatterElements", 16, {},
                                  {vector_input<float>("x", ElementType::fp32, {1, 2}),
                                   vector_input<int64_t>("places", ElementType::i64, {}),
                                   vector_input<float>("updates", ElementType::fp32, {})});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(*made), ElementsAre(1, 2));
}

TEST(Index, ScatterJoinsSeveralUpdatesOfAnElement) {
  const auto scatter = [](const char* reduction) {
    return outcome(evaluate_node(
        "ScatterElements", 18, {text("reduction", reduction)},
        {vector_input("X", ElementType::i8, std::vector<int8_t>{-5, 2, 3}), list("I", {0, 0, -1}),
         vector_input("U", ElementType::i8, std::vector<int8_t>{-9, -7, 50})}));
  };
  EXPECT_EQ(scatter("max"), "-5 2 50");
  EXPECT_EQ(scatter("min"), "-9 2 3");
  // In 8 bits: -5 * 63 is -59.
  EXPECT_EQ(scatter("mul"), "-59 2 -106");
  EXPECT_EQ(scatter("add"), "-21 2 53");
  EXPECT_THAT(scatter("mean"), HasSubstr("reduction 'mean'"));
}

// The standard leaves it open; the last one wins, as in ONNX Runtime.
TEST(Index, ScatterOfSeveralUpdatesOfAnElement) {
  OneNode elements("ScatterElements", 18);
  elements.input({4}, {1, 2, 3, 4}).input({4}, {1, 3, -3, 1}, DataType::i64);
  elements.input({4}, {10, 20, 30, 40});
  OneNode late = elements;
  EXPECT_THAT(*elements.run(), ElementsAre(1, 40, 3, 20));
  EXPECT_THAT(*late.when_run().run(), ElementsAre(1, 40, 3, 20));
  OneNode rows("ScatterND", 18);
  rows.input({2, 2}, {1, 2, 3, 4}).input({2, 1}, {1, -1}, DataType::i64);
  rows.input({2, 2}, {5, 6, 7, 8});
  EXPECT_THAT(*rows.run(), ElementsAre(1, 2, 7, 8));
  // Along the second axis, in a part of the rows.
  OneNode part("ScatterElements", 18);
  part.input({2, 3}, {1, 2, 3, 4, 5, 6}).input({1, 3}, {2, 2, 0}, DataType::i64);
  part.input({1, 3}, {7, 8, 9}).set("axis", 1);
  EXPECT_THAT(*part.run(), ElementsAre(9, 2, 8, 4, 5, 6));
}

TEST(Index, GatherTakesTheSizesOfBoth) {
  EXPECT_EQ(outcome(evaluate_node("Gather", 13, {integer("axis", 1)},
                                  {counted({2, 3, 2}), list("I", {-1, 0})})),
            "4 5 0 1 10 11 6 7");
  EXPECT_THAT(
      outcome(evaluate_node("Gather", 13, {integer("axis", 3)}, {counted({2, 3}), list("I", {0})})),
      HasSubstr("axis 3 of a tensor of rank 2"));
}

TEST(Image, UpsampleAndResizeOfOldVersions) {
  Attribute scales;
  scales.name = "scales";
  scales.type = Attribute::Type::floats;
  scales.floats = {1, 2};
  EXPECT_EQ(outcome(evaluate_node("Upsample", 7, {scales}, {counted({1, 3})})), "0 0 1 1 2 2");
  const auto scale = vector_input("S", ElementType::fp32, std::vector<float>{1, 1.5F});
  EXPECT_EQ(outcome(evaluate_node("Resize", 10, {}, {counted({1, 4}), scale})), "0 0 1 2 2 3");
}

TEST(Image, NearestOfOpsetTenGoesUpWhereAnAxisShrinks) {
  const auto resize = [](double scale) {
    OneNode out("Resize", 10);
    return out.input({4}, {1, 2, 3, 4}).input({1}, {scale});
  };
  EXPECT_THAT(*resize(0.6).run(), ElementsAre(1, 3));
  EXPECT_THAT(*resize(0.75).run(), ElementsAre(1, 3, 4));
  EXPECT_THAT(*resize(1.5).run(), ElementsAre(1, 1, 2, 3, 3, 4));
  // 7 / 0.7 is 10 in fp32, and more than that in fp64.
  OneNode ten("Resize", 10);
  ten.input({12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).input({1}, {0.7});
  EXPECT_THAT(*ten.run(), ElementsAre(0, 2, 3, 5, 6, 8, 9, 10));
}

TEST(Image, UpsampleOfTheFirstVersion) {
  OneNode upsample("Upsample", 1);
  upsample.input({1, 1, 1, 2}, {1, 2}).set_float("height_scale", 2).set_float("width_scale", 2);
  EXPECT_THAT(*upsample.run(), ElementsAre(1, 1, 2, 2, 1, 1, 2, 2));
}

// A point far outside: each tap is the element at the border.
TEST(Image, CubicTapsBeyondABorder) {
  OneNode sample("GridSample", 20);
  sample.input({1, 1, 1, 3}, {1, 2, 4}).input({1, 1, 2, 2}, {-4, 0, 1.2, 0});
  sample.set("mode", "cubic").set("padding_mode", "border").set("align_corners", 1);
  const std::vector<double> out = *sample.run();
  EXPECT_NEAR(out[0], 1, 1e-6);
  // At 2.2 of 0, 1, 2 the taps are 1, 2, 2 and 2.
  const auto weight = [](double d) {
    return d <= 1 ? (1.25 * d - 2.25) * d * d + 1 : ((-0.75 * d + 3.75) * d - 6) * d + 3;
  };
  EXPECT_NEAR(out[1], 2 * weight(1.2) + 4 * (weight(0.2) + weight(0.8) + weight(1.8)), 1e-5);
}

// No case of the standard has it. Bins overlap where they do not come out even, and are 0 where
// they lie beside the image.
TEST(Image, MaxRoiPool) {
  const std::vector<float> rois = {0, 0, 0, 2, 1, 0, 5, 5, 7, 7};
  EXPECT_EQ(outcome(evaluate_node(
                "MaxRoiPool", 22, {integers("pooled_shape", {1, 2})},
                {counted({1, 1, 2, 3}), initializer("R", ElementType::fp32, {2, 5}, rois)})),
            "4 5 0 0");
}

}  // namespace
}  // namespace stria::onnx
