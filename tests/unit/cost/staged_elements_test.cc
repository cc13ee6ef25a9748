// SPDX-License-Identifier: Apache-2.0
// What is staged of a dimension, against the elements that all points of a tile read.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "stria/cost/workgroup/staged_elements.h"

namespace stria::cost {
namespace {

// Of two indices.
TiledView view_of(int64_t size, std::vector<TiledDim::Term> terms) {
  TiledView out;
  out.dims.push_back({size, 1, std::move(terms)});
  return out;
}

std::set<int64_t> read_by(const TiledDim& dim, const Tile& tile) {
  std::set<int64_t> out;
  for (int64_t a = 0; a < tile[0]; ++a)
    for (int64_t b = 0; b < tile[1]; ++b)
      for (int64_t e = 0; e < dim.size; ++e) {
        int64_t at = e;
        for (const TiledDim::Term& term : dim.terms)
          at += term.coefficient * (term.index == 0 ? a : b);
        out.insert(at);
      }
  return out;
}

TEST(StagedElements, OutputsWithAStrideAndOneTap) {
  const TiledDim dim = view_of(1, {{0, 2}, {1, 1}}).dims[0];
  EXPECT_EQ(staged_step(dim, {7, 1}), 2);
  EXPECT_EQ(staged_extent(dim, {7, 1}), 7);
  EXPECT_EQ(staged_step(dim, {7, 3}), 1);
  EXPECT_EQ(staged_extent(dim, {7, 3}), 15);
  // Taps that lie apart, of one output.
  EXPECT_EQ(staged_extent(view_of(1, {{0, 1}, {1, 2}}).dims[0], {1, 3}), 3);
  // Several elements at each point.
  EXPECT_EQ(staged_extent(view_of(2, {{0, 2}}).dims[0], {7, 1}), 14);
  EXPECT_EQ(staged_extent(view_of(1, {}).dims[0], {7, 3}), 1);
}

TEST(StagedElements, EveryElementThatIsReadAndNoneOfALargerStep) {
  std::mt19937 random(5);
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const TiledDim dim = view_of(pick(1, 2), {{0, pick(1, 6)}, {1, pick(1, 6)}}).dims[0];
    const Tile tile = {pick(1, 6), pick(1, 6)};
    const std::set<int64_t> read = read_by(dim, tile);
    const int64_t step = staged_step(dim, tile);
    int64_t common = 0;
    for (const int64_t at : read) {
      ASSERT_EQ(at % step, 0);
      common = std::gcd(common, at);
    }
    if (dim.size == 1) {
      ASSERT_EQ(step, std::max<int64_t>(1, common));
    }
    ASSERT_EQ(staged_extent(dim, tile), static_cast<double>(*read.rbegin() / step + 1));
  }
}

TEST(StagedElements, NoTileOfABoxStagesLessForAPoint) {
  std::mt19937 random(6);
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const TiledView view = view_of(pick(0, 3) == 0 ? 2 : 1, {{0, pick(1, 6)}, {1, pick(1, 6)}});
    const Tile low = {pick(1, 3), pick(1, 3)}, high = {low[0] + pick(0, 6), low[1] + pick(0, 6)};
    const double bound = least_staged_of_point(view, low, high);
    double least = 1e9;
    for (int64_t a = low[0]; a <= high[0]; ++a)
      for (int64_t b = low[1]; b <= high[1]; ++b)
        least = std::min(least, staged_elements(view, {a, b}) / static_cast<double>(a * b));
    ASSERT_DOUBLE_EQ(bound, least);
  }
}

}  // namespace
}  // namespace stria::cost
