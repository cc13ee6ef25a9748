// SPDX-License-Identifier: Apache-2.0
#include "stria/several/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stria/several/device_list.h"

namespace stria {
namespace {

std::vector<int64_t> counts(int64_t units, const std::vector<double>& shares) {
  std::vector<int64_t> out;
  int64_t next = 0;
  for (const UnitRange& range : share_out(units, shares)) {
    EXPECT_EQ(range.begin, next);
    next = range.end;
    out.push_back(range.count());
  }
  EXPECT_EQ(next, units);
  return out;
}
using Counts = std::vector<int64_t>;

TEST(Shares, AreAsEvenAsUnitsAllow) {
  EXPECT_EQ(counts(64, {1, 1}), (Counts{32, 32}));
  EXPECT_EQ(counts(7, {1, 1, 1}), (Counts{3, 2, 2}));
  EXPECT_EQ(counts(2, {1, 1, 1, 1, 1}), (Counts{1, 1, 0, 0, 0}));
  EXPECT_EQ(counts(9, {2, 1}), (Counts{6, 3}));
  EXPECT_EQ(counts(10, {0, 1}), (Counts{0, 10}));
  // A slow device that would end last gets nothing.
  EXPECT_EQ(counts(8, {100, 1}), (Counts{8, 0}));
}

// By trying all: nothing ends earlier.
TEST(Shares, EndAsEarlyAsCanBe) {
  std::mt19937 random(1);
  for (int n = 0; n < 200; ++n) {
    const auto units = static_cast<int64_t>(random() % 12);
    std::vector<double> shares;
    for (int k = 0; k < 3; ++k) shares.push_back(0.1 + static_cast<double>(random() % 50));
    const auto end = [&](const Counts& of) {
      double last = 0;
      for (size_t k = 0; k < 3; ++k) last = std::max(last, static_cast<double>(of[k]) / shares[k]);
      return last;
    };
    double best = 1e9;
    for (int64_t a = 0; a <= units; ++a)
      for (int64_t b = 0; a + b <= units; ++b) best = std::min(best, end({a, b, units - a - b}));
    EXPECT_LE(end(counts(units, shares)), best * (1 + 1e-12)) << units;
  }
}

TEST(DeviceList, HasSelectorsWithSemicolonsBetween) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split_device_list("a:0;b:1").value(), (Texts{"a:0", "b:1"}));
  EXPECT_EQ(split_device_list("kind:gpu, mem>=8G").value(), (Texts{"kind:gpu, mem>=8G"}));
  EXPECT_EQ(split_device_list("a:\"x;y\";b").value(), (Texts{"a:\"x;y\"", "b"}));
  EXPECT_EQ(split_device_list("").status().code(), StatusCode::invalid_argument);
  const Status status = split_device_list("a;b;").status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.message().find("selector 3 of 3"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace stria
