// SPDX-License-Identifier: Apache-2.0
// What a lane reads of local memory for a point: as the lanes' plan has it.
#include "stria/cost/workgroup/group_work.h"

#include <gtest/gtest.h>

#include "stria/cost/workgroup/sum_lanes.h"

namespace stria::cost::group {
namespace {

Staged views(double count, double vectors) {
  Staged out;
  out.views = count;
  out.vectors = vectors;
  return out;
}

// Accesses of each of 256 lanes that share out a square of outputs, or a rectangle of two, of a
// product whose operands lie in vectors along `vectors` of its two sides.
int64_t planned(int64_t sums, int64_t vectors) {
  constexpr int64_t kThreads = 256, kElements = static_cast<int64_t>(kVector);
  const int64_t first_run = vectors > 0 && sums >= kElements ? kElements : 1;
  const int64_t second_run = vectors > 1 && sums >= kElements * kElements ? kElements : 1;
  int64_t columns = 1;
  while (columns * columns < sums * kThreads) columns *= 2;
  const std::vector<int64_t> ranges = {columns / first_run, sums * kThreads / columns / second_run};
  const std::vector<SumRead> reads = {{{true, false}, first_run}, {{false, true}, second_run}};
  const std::vector<int64_t> lanes = plan_sum_lanes(ranges, reads, kThreads, 1);
  return ranges[0] / lanes[0] + ranges[1] / lanes[1];
}

TEST(GroupWork, LoadsAreThoseOfTheLanesPlan) {
  for (int64_t vectors = 0; vectors <= 2; ++vectors)
    for (int64_t sums = 1; sums <= kMostSums; sums *= 2)
      EXPECT_EQ(loads_of(static_cast<double>(sums), views(2, static_cast<double>(vectors))),
                static_cast<double>(planned(sums, vectors)))
          << sums << " sums, " << vectors << " views in vectors";
}

TEST(GroupWork, LoadsOfOtherNumbersOfViewsAreShares) {
  EXPECT_EQ(loads_of(16, views(1, 1)), loads_of(16, views(2, 1)) / 2);
  EXPECT_EQ(loads_of(16, views(3, 3)), loads_of(16, views(2, 2)) * 3 / 2);
  EXPECT_EQ(loads_of(16, views(0, 0)), 0);
}

Staged window(double points, double outputs, double vectors = 1, double kept = 1) {
  Staged out = views(2, vectors);
  out.window_points = points;
  out.window_outputs = outputs;
  out.window_kept = kept;
  return out;
}

// 16 sums are a vector of one view and four outputs that a window of the other one moves along: six
// elements for three points, where one after the other would be twelve.
TEST(GroupWork, ElementsOfAWindowAreLoadedOnce) {
  EXPECT_EQ(loads_of(16, views(2, 1)), 1 + 4);
  EXPECT_DOUBLE_EQ(loads_of(16, window(3, 4)), 1 + 6.0 / 3);
  EXPECT_DOUBLE_EQ(loads_of(16, window(7, 4)), 1 + 10.0 / 7);
  // Of two outputs in a row, four elements serve three points, twice.
  EXPECT_DOUBLE_EQ(loads_of(16, window(3, 2)), 1 + 2 * 4.0 / 3);
  EXPECT_DOUBLE_EQ(loads_of(16, window(3, 4, 1, 0.5)), 1 + (4 + 6.0 / 3) / 2);
  EXPECT_EQ(loads_of(16, window(3, 4, 1, 0)), loads_of(16, views(2, 1)));
  EXPECT_EQ(loads_of(16, window(3, 1)), loads_of(16, views(2, 1)));
  EXPECT_EQ(loads_of(16, window(1, 4)), loads_of(16, views(2, 1)));
}

TEST(GroupWork, LoadsOfWindowsHaveABound) {
  const auto holds = [](double kept, double vectors, double more_vectors) {
    for (const double points : {1, 3, 7})
      for (double sums = 1; sums <= kMostSums; ++sums)
        for (double more = sums; more <= kMostSums; ++more)
          for (const double outputs : {1, 3, 16}) {
            const Staged any = window(7, kNone, more_vectors, kept);
            const Staged one = window(points, outputs, vectors, kept);
            if (least_loads_of(sums, any) > loads_of(more, one) * (1 + 1e-12) ||
                least_loads_of_a_sum(more, any) > loads_of(sums, one) / sums * (1 + 1e-12))
              return false;
          }
    return true;
  };
  for (const double kept : {0.0, 0.3, 1.0})
    for (double vectors = 0; vectors <= 2; ++vectors)
      for (double more = vectors; more <= 2; ++more)
        EXPECT_TRUE(holds(kept, vectors, more)) << kept << ", " << vectors << ", " << more;
}

// What bounds of a box of tiles stand on.
TEST(GroupWork, LoadsForEachSumNeverGrow) {
  for (double vectors = 0; vectors <= 3; ++vectors) {
    double least = kNone;
    for (double sums = kMostSums; sums >= 1; --sums) {
      const double loads = loads_of(sums, views(2, vectors));
      least = std::min(least, loads);
      EXPECT_EQ(least_loads_of(sums, views(2, vectors)), least);
      if (sums > 1) {
        EXPECT_LE(loads / sums, loads_of(sums - 1, views(2, vectors)) / (sums - 1) * (1 + 1e-12))
            << sums << " sums, " << vectors << " views in vectors";
      }
      EXPECT_LE(loads_of(sums, views(2, vectors + 1)), loads) << sums;
    }
  }
}

}  // namespace
}  // namespace stria::cost::group
