// SPDX-License-Identifier: Apache-2.0
// The measure that the proof rests on: right at regular points, silent at kinks wherever they lie.
#include "slope.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stria::gradient_proof {
namespace {

template <typename Function>
Slope slope_at(double x, Function f) {
  Samples samples;
  for (size_t n = 0; n < samples.size(); ++n) samples[n] = f(x + kOffsets[n]);
  return slope_of(samples);
}

TEST(Slope, IsThatOfSmoothFunctions) {
  for (double x : {-1.5, -0.25, 0.0, 0.5, 2.0, 7.0}) {
    const Slope sine = slope_at(x, [](double v) { return std::sin(v); });
    EXPECT_TRUE(sine.regular) << x;
    EXPECT_NEAR(sine.value, std::cos(x), 1e-9);
    const Slope power = slope_at(x, [](double v) { return std::exp(v) * v; });
    EXPECT_TRUE(power.regular) << x;
    EXPECT_NEAR(power.value, std::exp(x) * (x + 1), 1e-7);
    EXPECT_LT(power.tolerance, 1e-5 * std::max(1.0, power.value));
  }
}

TEST(Slope, SaysNothingOfKinksAndJumps) {
  for (double part : {0.0, 0.125, 1.0 / 3, 0.4, 0.5, 0.75, 0.9, -0.2, -1.0 / 3, -0.6}) {
    const double at = 0.5 + part * kStep;
    for (double size : {1.0, 0.01}) {
      EXPECT_FALSE(slope_at(0.5, [&](double v) { return size * std::fabs(v - at); }).regular)
          << part;
      EXPECT_FALSE(slope_at(0.5, [&](double v) { return v > at ? v + size : v; }).regular) << part;
    }
  }
  EXPECT_FALSE(slope_at(0.0, [](double v) { return std::sqrt(v); }).regular);
  EXPECT_FALSE(slope_at(0.0, [](double v) { return 1 / v; }).regular);
}

// A kink that is taken for smooth does not move the slope beyond its tolerance.
TEST(Slope, WhatIsNotSeenIsSmall) {
  for (int n = -1000; n <= 1000; ++n) {
    const double at = 0.5 + n * 1.1e-3 * kStep;
    for (double size = 1e-8; size < 2; size *= 3) {
      const Slope slope = slope_at(0.5, [&](double v) { return v + size * std::max(v - at, 0.0); });
      if (!slope.regular) continue;
      const double here = 1 + (at < 0.5 ? size : at > 0.5 ? 0 : size / 2);
      EXPECT_NEAR(slope.value, here, slope.tolerance) << at << " " << size;
    }
  }
}

}  // namespace
}  // namespace stria::gradient_proof
