// SPDX-License-Identifier: Apache-2.0
// Cast and BitCast of every pattern of the small types, against a search through all numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "evaluate_node.h"
#include "stria/onnx/translate/small_float.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;

constexpr ElementType kSmallFloats[] = {ElementType::fp8e4m3fn, ElementType::fp8e4m3fnuz,
                                        ElementType::fp8e5m2,   ElementType::fp8e5m2fnuz,
                                        ElementType::fp4e2m1,   ElementType::fp6e2m3,
                                        ElementType::fp6e3m2};

std::vector<float> numbers_of(ElementType type) {
  std::vector<float> out;
  for (uint32_t bits = 0; bits < 1U << bits_of(type); ++bits)
    out.push_back(small_float_from_bits(type, bits));
  return out;
}

// The finite number next to x, of two the one with the even pattern; x is in the range.
float nearest(ElementType type, float x) {
  const std::vector<float> all = numbers_of(type);
  size_t best = 0;
  double distance = INFINITY;
  for (size_t bits = 0; bits < all.size(); ++bits) {
    if (!std::isfinite(all[bits])) continue;
    const double own = std::abs(double{all[bits]} - x);
    if (own < distance || (own == distance && bits % 2 == 0)) best = bits, distance = own;
  }
  return all[best];
}

TEST(SmallFloats, CastsRoundToTheNearestNumber) {
  for (const ElementType type : kSmallFloats) {
    const std::vector<float> all = numbers_of(type);
    float largest = 0;
    for (const float number : all)
      if (std::isfinite(number)) largest = std::max(largest, number);
    std::vector<float> x;
    // Every number, and the middle between any and the next.
    for (size_t k = 0; k + 1 < all.size(); ++k)
      if (std::isfinite(all[k]) && std::isfinite(all[k + 1])) {
        x.push_back(all[k]);
        const float middle = (all[k] + all[k + 1]) / 2;
        for (const float each :
             {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, largest)})
          x.push_back(each);
      }
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-largest, largest);
    for (int k = 0; k < 200; ++k) x.push_back(uniform(random));
    auto made = evaluate_node("Cast", 28, {integer("to", static_cast<int64_t>(type))},
                              {vector_input("X", ElementType::fp32, x)});
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made->element, type);
    const std::vector<double> y = numbers(*made);
    for (size_t k = 0; k < x.size(); ++k)
      ASSERT_EQ(y[k], nearest(type, x[k])) << name_of(type) << " of " << x[k];
  }
}

TEST(SmallFloats, CastsSaturate) {
  const std::vector<float> x = {1e30F, -1e30F, INFINITY, -INFINITY};
  for (const ElementType type : kSmallFloats) {
    auto made = evaluate_node("Cast", 28, {integer("to", static_cast<int64_t>(type))},
                              {vector_input("X", ElementType::fp32, x)});
    ASSERT_TRUE(made.ok()) << made.status().message();
    const double largest = small_float_of(type)->largest;
    EXPECT_EQ(numbers(*made), (std::vector<double>{largest, -largest, largest, -largest}))
        << name_of(type);
  }
}

TEST(SmallFloats, PatternsStayInBitCasts) {
  std::vector<uint8_t> patterns(256);
  for (size_t k = 0; k < 256; ++k) patterns[k] = static_cast<uint8_t>(k);
  for (const ElementType type :
       {ElementType::fp8e4m3fn, ElementType::fp8e4m3fnuz, ElementType::fp8e5m2,
        ElementType::fp8e5m2fnuz, ElementType::fp8e8m0}) {
    auto floats = evaluate_node("BitCast", 28, {integer("to", static_cast<int64_t>(type))},
                                {vector_input("X", ElementType::u8, patterns)});
    ASSERT_TRUE(floats.ok()) << floats.status().message();
    EXPECT_EQ(floats->element, type);
    auto back = evaluate_node("BitCast", 28, {integer("to", static_cast<int64_t>(ElementType::u8))},
                              {vector_input("X", type, patterns)});
    ASSERT_TRUE(back.ok()) << back.status().message();
    const std::vector<double> y = numbers(*floats), same = numbers(*back);
    for (uint32_t k = 0; k < 256; ++k) {
      const float number = small_float_from_bits(type, k);
      if (std::isnan(number)) {
        EXPECT_TRUE(std::isnan(y[k])) << name_of(type) << " " << k;
        EXPECT_TRUE(std::isnan(small_float_from_bits(type, static_cast<uint32_t>(same[k]))));
      } else {
        EXPECT_EQ(y[k], number) << name_of(type) << " " << k;
        EXPECT_EQ(same[k], k) << name_of(type);
      }
    }
  }
}

TEST(BitCasts, KeepEveryPatternOfFloats) {
  const std::vector<uint32_t> singles = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                         0x00800000, 0x3f800000, 0xc2f6e979, 0x7f7fffff, 0xff7fffff,
                                         0x7f800000, 0xff800000, 0x7fc00000, 0x33000001};
  const std::vector<uint64_t> doubles = {0,
                                         0x8000000000000000,
                                         1,
                                         0x000fffffffffffff,
                                         0x0010000000000000,
                                         0x3ff0000000000000,
                                         0xc05edd2f1a9fbe77,
                                         0x7fefffffffffffff,
                                         0x7ff0000000000000,
                                         0xfff0000000000000,
                                         0x7ff8000000000000};
  const std::vector<uint16_t> halves = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400,
                                        0x3c00, 0xc248, 0x7bff, 0x7c00, 0xfc00, 0x7e00};
  const std::vector<uint16_t> brains = {0,      0x8000, 1,      0x8001, 0x007f, 0x0080,
                                        0x3f80, 0xc248, 0x7f7f, 0x7f80, 0xff80, 0x7fc0};
  const auto check = [](ElementType real, ElementType word, const auto& patterns) {
    using T = typename std::decay_t<decltype(patterns)>::value_type;
    for (const auto& [from, to] : {std::pair(real, word), std::pair(word, real)}) {
      auto made = evaluate_node("BitCast", 28, {integer("to", static_cast<int64_t>(to))},
                                {vector_input("X", from, patterns)});
      ASSERT_TRUE(made.ok()) << made.status().message();
      EXPECT_EQ(made->element, to);
      EXPECT_EQ(elements<T>(*made), patterns) << name_of(from) << " to " << name_of(to);
    }
  };
  check(ElementType::fp32, ElementType::u32, singles);
  check(ElementType::fp32, ElementType::i32, singles);
  check(ElementType::fp64, ElementType::u64, doubles);
  check(ElementType::fp16, ElementType::i16, halves);
  check(ElementType::bf16, ElementType::u16, brains);
}

TEST(Casts, TellWhatIsWrong) {
  const auto x = vector_input("X", ElementType::fp32, std::vector<float>{1});
  const auto fails = [&](const char* operation, std::vector<Attribute> attributes) {
    auto made = evaluate_node(operation, 28, std::move(attributes), {x});
    return made.ok() ? "" : made.status().message();
  };
  EXPECT_THAT(fails("Cast", {}), HasSubstr("attribute 'to' is missing"));
  EXPECT_THAT(fails("Cast", {integer("to", 99)}), HasSubstr("attribute 'to' is 99"));
  EXPECT_THAT(fails("Cast", {integer("to", 14)}), HasSubstr("a cast of float to complex64"));
  EXPECT_THAT(fails("Cast", {integer("to", 24), text("round_mode", "odd")}),
              HasSubstr("round_mode 'odd'"));
  EXPECT_THAT(fails("BitCast", {integer("to", 7)}),
              HasSubstr("elements of float and int64 are not as wide"));
}

TEST(Casts, KnowTheTypesOfOpset1) {
  auto made = evaluate_node("Cast", 1, {text("to", "INT8")},
                            {vector_input("X", ElementType::fp32, std::vector<float>{-2.5F})});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->element, ElementType::i8);
  EXPECT_EQ(numbers(*made), std::vector<double>{-2});
}

}  // namespace
}  // namespace stria::onnx
