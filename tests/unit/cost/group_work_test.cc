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
