// SPDX-License-Identifier: Apache-2.0
// What the standard's cases do not reach: old versions, edges, errors, and numbers that are drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "evaluate_node.h"
#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> result(const Result<EvaluatedOutput>& made) {
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? numbers(*made) : std::vector<double>();
}

std::string message(const Result<EvaluatedOutput>& made) {
  return made.ok() ? "" : made.status().message();
}

// Before opset 7 an attribute says where the second tensor's dimensions are.
TEST(Elementwise, BroadcastsAlongAnAxis) {
  const auto a = initializer("A", ElementType::fp32, {2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto b = initializer("B", ElementType::fp32, {2}, std::vector<float>{10, 20});
  EXPECT_THAT(
      result(evaluate_node("Add", 6, {integer("broadcast", 1), integer("axis", 0)}, {a, b})),
      ElementsAre(10, 11, 12, 23, 24, 25));
  EXPECT_THAT(
      message(evaluate_node("Add", 6, {integer("broadcast", 1), integer("axis", 2)}, {a, b})),
      HasSubstr("axis 2"));
  const auto row = initializer("B", ElementType::fp32, {1, 3}, std::vector<float>{10, 20, 30});
  EXPECT_THAT(
      message(evaluate_node("Add", 6, {integer("broadcast", 1), integer("axis", 1)}, {a, row})),
      HasSubstr("has no room"));
}

TEST(Elementwise, ShiftsByMoreThanTheWidth) {
  const auto x = vector_input("X", ElementType::i8, std::vector<int8_t>{-5, 5, -5, 5, -1});
  const auto y = vector_input("Y", ElementType::i8, std::vector<int8_t>{1, 1, 8, 100, -1});
  EXPECT_THAT(result(evaluate_node("BitShift", 28, {text("direction", "RIGHT")}, {x, y})),
              ElementsAre(-3, 2, -1, 0, -1));
  EXPECT_THAT(result(evaluate_node("BitShift", 28, {text("direction", "LEFT")}, {x, y})),
              ElementsAre(-10, 10, 0, 0, 0));
  EXPECT_THAT(message(evaluate_node("BitShift", 28, {}, {x, y})), HasSubstr("LEFT or RIGHT"));
}

TEST(Elementwise, ShrinkOfNaNIsNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  OneNode shrink("Shrink", 9);
  shrink.input({4}, {-2, 0.25, nan, 3}).set_float("lambd", 0.5F).set_float("bias", 1);
  EXPECT_THAT(*shrink.run(), ElementsAre(-1, 0, 0, 2));
}

TEST(Elementwise, OperandsHaveOneType) {
  const auto of = [](const char* name) {
    return OneNode(name, 13).input({1}, {1}).input({1}, {2}, DataType::i32);
  };
  for (const char* name : {"Add", "Less", "Max"})
    EXPECT_THAT(of(name).failure(),
                HasSubstr("inputs 0 and 1 have elements of float and int32, not of one type"));
  EXPECT_THAT(of("Pow").failure(), "it was translated");
  OneNode where("Where", 16);
  where.input({1}, {1}, DataType::boolean).input({1}, {1}).input({1}, {1}, DataType::i64);
  EXPECT_THAT(where.failure(), HasSubstr("inputs 1 and 2 have elements of float and int64"));
}

TEST(Elementwise, ErrorFunction) {
  std::vector<double> x, wanted;
  for (double at = -7; at <= 7; at += 0.01) {
    x.push_back(at);
    wanted.push_back(std::erf(at));
  }
  const std::vector<double> y =
      result(evaluate_node("Erf", 13, {}, {vector_input("X", ElementType::fp64, x)}));
  ASSERT_EQ(y.size(), x.size());
  for (size_t k = 0; k < x.size(); ++k)
    ASSERT_NEAR(y[k], wanted[k], 2e-15 * std::abs(wanted[k])) << "erf of " << x[k];
}

TEST(Random, NormalNumbers) {
  Attribute shape = integer("shape", 0);
  shape.type = Attribute::Type::ints;
  shape.ints = {100, 200};
  const std::vector<double> y = result(evaluate_node("RandomNormal", 1, {shape}, {}));
  ASSERT_EQ(y.size(), 20000);
  double mean = 0, square = 0;
  for (const double each : y) mean += each / 20000, square += each * each / 20000;
  EXPECT_NEAR(mean, 0, 0.03);
  EXPECT_NEAR(square, 1, 0.05);
}

TEST(Random, SeedsGiveTheNumbers) {
  const auto x = initializer("X", ElementType::fp32, {50}, std::vector<float>(50));
  Attribute seed = integer("seed", 0);
  seed.type = Attribute::Type::f;
  seed.f = 1;
  const std::vector<double> a = result(evaluate_node("RandomUniformLike", 1, {seed}, {x}));
  EXPECT_EQ(a, result(evaluate_node("RandomUniformLike", 1, {seed}, {x})));
  seed.f = 2;
  EXPECT_NE(a, result(evaluate_node("RandomUniformLike", 1, {seed}, {x})));
}

// What is certain or impossible, and a class with three quarters of the weight.
TEST(Random, Probabilities) {
  std::vector<float> p(100);
  for (size_t k = 50; k < 100; ++k) p[k] = 1;
  std::vector<double> wanted(p.begin(), p.end());
  EXPECT_EQ(result(evaluate_node("Bernoulli", 15, {}, {vector_input("X", ElementType::fp32, p)})),
            wanted);
  const auto weights = initializer("X", ElementType::fp32, {1, 3},
                                   std::vector<float>{std::log(0.25F), std::log(0.75F), -1e30F});
  const std::vector<double> drawn =
      result(evaluate_node("Multinomial", 7, {integer("sample_size", 4000)}, {weights}));
  ASSERT_EQ(drawn.size(), 4000);
  int64_t count[3] = {};
  for (const double each : drawn) ++count[static_cast<size_t>(each)];
  EXPECT_NEAR(static_cast<double>(count[1]), 3000, 150);
  EXPECT_EQ(count[2], 0);
}

TEST(Quantize, TellsWhatDoesNotFit) {
  const auto x = initializer("X", ElementType::fp32, {2, 3}, std::vector<float>(6));
  const auto scale = vector_input("S", ElementType::fp32, std::vector<float>{1, 2});
  EXPECT_THAT(message(evaluate_node("QuantizeLinear", 13, {integer("axis", 1)}, {x, scale})),
              HasSubstr("input 1 has sizes [2], which fit no axis 1 of [2, 3]"));
  EXPECT_THAT(result(evaluate_node("QuantizeLinear", 13, {integer("axis", -2)}, {x, scale})),
              ElementsAre(0, 0, 0, 0, 0, 0));
  const auto blocks = initializer("S", ElementType::fp32, {2, 2}, std::vector<float>{1, 2, 3, 4});
  EXPECT_THAT(message(evaluate_node("QuantizeLinear", 21,
                                    {integer("axis", 1), integer("block_size", 1)}, {x, blocks})),
              HasSubstr("fit no axis"));
}

TEST(Quantize, BlocksOfOneDimension) {
  OneNode node("DequantizeLinear", 21);
  node.input({5}, {0, 1, 2, 3, 4}, DataType::i8).input({3}, {1, 10, 100});
  EXPECT_THAT(*node.set("axis", int64_t{0}).set("block_size", 2).run(),
              ElementsAre(0, 1, 20, 30, 400));
  OneNode per_axis("DequantizeLinear", 21);
  per_axis.input({5}, {0, 1, 2, 3, 4}, DataType::i8).input({3}, {1, 10, 100});
  EXPECT_THAT(per_axis.set("axis", int64_t{0}).failure(), HasSubstr("fit no axis 0 of [5]"));
}

TEST(Quantize, TheRangeOfNothingIsZero) {
  OneNode node("DynamicQuantizeLinear", 11);
  EXPECT_THAT(*node.input({0}, {}).run(3), ElementsAre(1, 0));
}

// Elements in the middle of two integers, and next to it, by scales with all digits.
TEST(Quantize, RoundsAsAQuotientThatIsCorrectlyRounded) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(0.001F, 3);
  for (int round = 0; round < 20; ++round) {
    const float scale = any(random);
    std::vector<float> x;
    std::vector<double> wanted;
    for (int n = -128; n < 128; ++n) {
      const float middle = (static_cast<float>(n) + 0.5F) * scale;
      for (const float each : {middle, std::nextafter(middle, 1e9F), std::nextafter(middle, -1e9F),
                               static_cast<float>(n) * scale}) {
        x.push_back(each);
        wanted.push_back(std::clamp<double>(std::nearbyint(each / scale), -128, 127));
      }
    }
    EXPECT_EQ(
        result(evaluate_node("QuantizeLinear", 13, {},
                             {vector_input("X", ElementType::fp32, x),
                              initializer("S", ElementType::fp32, {}, std::vector<float>{scale}),
                              initializer("Z", ElementType::i8, {}, std::vector<int8_t>{0})})),
        wanted);
  }
}

}  // namespace
}  // namespace stria::onnx
