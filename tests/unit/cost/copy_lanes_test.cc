// SPDX-License-Identifier: Apache-2.0
// Which lanes of a group copy what.
#include <gtest/gtest.h>

#include "stria/cost/group_plan.h"

namespace stria::cost {
namespace {

using Lanes = std::vector<int64_t>;

// A 64x16 tile of rows of `row` elements, turned in local memory into 16 rows of 64 behind 4 unused.
CopyLanes turned_tile(int64_t row, int64_t threads, int64_t banks) {
  return plan_copy({64, 16}, {row, 1}, threads, 8, {banks, {1, 68}});
}

TEST(CopyLanes, NeighboursTakeNeighboursOfMainMemory) {
  const CopyLanes copy = turned_tile(572, 64, 0);
  EXPECT_EQ(copy.lanes, (Lanes{4, 16}));
  EXPECT_EQ(copy.order, (std::vector<size_t>{1, 0}));
}

TEST(CopyLanes, NoMoreThanTheirBanks) {
  // 68, the step from one element to the next on the other side, meets 8 of 32 banks.
  EXPECT_EQ(turned_tile(572, 64, 32).lanes, (Lanes{8, 8}));
}

TEST(CopyLanes, PiecesThatBeginAtMultiplesStayWhole) {
  EXPECT_EQ(turned_tile(576, 64, 32).lanes, (Lanes{4, 16}));
}

TEST(CopyLanes, NoneIsIdleForTheBanks) {
  EXPECT_EQ(plan_copy({4, 16}, {573, 1}, 64, 8, {32, {1, 68}}).lanes, (Lanes{4, 16}));
}

TEST(CopyLanes, StepsThatMeetAllBanksChangeNothing) {
  EXPECT_EQ(plan_copy({64, 64}, {573, 1}, 64, 8, {32, {1, 65}}).lanes, (Lanes{1, 64}));
}

}  // namespace
}  // namespace stria::cost
