// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/find_point.h"

#include <gtest/gtest.h>

#include <iostream>
#include <limits>
#include <random>

namespace stria {
namespace {

// Small boxes, enumerated: what is found is a point, and most sets that have one give one.
TEST(FindPoint, WhatItFindsIsOne) {
  std::mt19937_64 random(3);
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  int found = 0, there = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::vector<std::string> names = {"x", "y", "z"};
    std::map<std::string, Interval> box;
    for (const std::string& name : names) {
      const int64_t low = pick(-3, 2);
      box[name] = {low, low + pick(0, 5)};
    }
    std::vector<Affine> constraints;
    for (int64_t i = pick(0, 4); i > 0; --i) {
      Affine form(pick(-6, 6));
      for (const std::string& name : names) form.add_term(name, pick(-2, 2));
      constraints.push_back(form);
      if (pick(0, 2) == 0) constraints.push_back(Affine(pick(0, 1)) - form);
    }
    std::map<std::string, int64_t> fixed;
    if (pick(0, 1)) fixed["y"] = pick(-4, 6);
    auto holds = [&](const std::map<std::string, int64_t>& point) {
      for (const auto& [name, value] : fixed)
        if (point.at(name) != value) return false;
      for (const auto& [name, range] : box)
        if (point.at(name) < range.lower || point.at(name) > range.upper) return false;
      for (const Affine& form : constraints)
        if (form.evaluate(point) < 0) return false;
      return true;
    };
    bool any = false;
    for (int64_t x = box["x"].lower; x <= box["x"].upper; ++x)
      for (int64_t y = box["y"].lower; y <= box["y"].upper; ++y)
        for (int64_t z = box["z"].lower; z <= box["z"].upper; ++z)
          any = any || holds({{"x", x}, {"y", y}, {"z", z}});
    const auto point = find_point(box, constraints, fixed);
    if (point) {
      EXPECT_TRUE(holds(*point));
    }
    there += any;
    found += point.has_value();
  }
  std::cout << found << " of " << there << " found\n";
  EXPECT_GT(there, 1000);
  EXPECT_GT(10 * found, 9 * there);
}

TEST(FindPoint, LargeNumbers) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::map<std::string, Interval> box = {{"x", {0, kMax}}, {"y", {0, kMax}}};
  const auto point =
      find_point(box, {Affine::of("x", kMax) - Affine::of("y", kMax), Affine::of("y") - kMax});
  ASSERT_TRUE(point);
  EXPECT_EQ(point->at("x"), kMax);
  EXPECT_FALSE(find_point({{"x", {1, 0}}}, {}));
}

}  // namespace
}  // namespace stria
