// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "stria/poly/affine.h"

namespace stria {
namespace {

TEST(Affine, PrintsConstantFirstThenNames) {
  Affine form = Affine::of("x") + Affine::of("kx") + Affine(-1);
  EXPECT_EQ(form.to_string(), "-1 + kx + x");
  EXPECT_EQ((Affine(1024) - Affine::of("kx") - Affine::of("x")).to_string(), "1024 - kx - x");
  EXPECT_EQ(Affine().to_string(), "0");
  EXPECT_EQ((Affine::of("a", -1) + Affine::of("b", -2)).to_string(), "-a - 2*b");
}

TEST(Affine, AlgebraAndSubstitution) {
  Affine form = Affine::of("x", 3) - Affine::of("x", 3);
  EXPECT_TRUE(form.is_constant());
  Affine g = Affine::of("x", 2) + Affine::of("y");
  EXPECT_EQ(g.substitute({{"x", Affine::of("xo", 4) + Affine::of("xi")}}).to_string(),
            "2*xi + 8*xo + y");
  EXPECT_EQ(g.evaluate({{"x", 5}, {"y", -1}}), 9);
  g += g;
  EXPECT_EQ(g.to_string(), "4*x + 2*y");
  std::string name;
  EXPECT_TRUE(Affine::of("q").is_single_index(&name));
  EXPECT_EQ(name, "q");
  EXPECT_FALSE((Affine::of("q") + 1).is_single_index());
}

TEST(Affine, Divides) {
  const Affine form = Affine::of("i", 6) + Affine::of("j", -9) + 12;
  EXPECT_EQ(form.common_divisor(), 3);
  EXPECT_EQ(form.common_divisor(4), 1);
  EXPECT_EQ(Affine().common_divisor(), 0);
  EXPECT_EQ((form / 3).to_string(), (Affine::of("i", 2) + Affine::of("j", -3) + 4).to_string());
}

TEST(Affine, IntervalsSaturate) {
  Affine form = Affine::of("x", -2) + 3;
  EXPECT_EQ(interval_of(form, {{"x", {0, 4}}}), (Interval{-5, 3}));
  EXPECT_EQ(interval_of(Affine::of("x", INT64_MAX), {{"x", {0, INT64_MAX}}}).upper, INT64_MAX);
  EXPECT_EQ(floor_div(-3, 2), -2);
  EXPECT_EQ(ceil_div(-3, 2), -1);
}

}  // namespace
}  // namespace stria
