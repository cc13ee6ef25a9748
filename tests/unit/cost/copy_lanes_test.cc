// SPDX-License-Identifier: Apache-2.0
// Which lanes of a group copy what.
#include <gtest/gtest.h>

#include "stria/cost/workgroup/group_plan.h"

namespace stria::cost {
namespace {

using Lanes = std::vector<int64_t>;

// A 64x16 tile of rows of `row` elements, turned in local memory into 16 rows of 64 behind 4
// unused.
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

// 3 rows of 32 over 32 lanes: 3 rounds with 32 lanes along them, 4 with 16.
TEST(CopyLanes, NoneGoesRoundMoreOftenForTheBanks) {
  EXPECT_EQ(plan_copy({3, 32}, {573, 1}, 32, 8, {32, {1, 68}}).lanes, (Lanes{1, 32}));
  EXPECT_EQ(plan_copy({4, 32}, {573, 1}, 32, 8, {32, {1, 68}}).lanes, (Lanes{4, 8}));
}

TEST(CopyLanes, StepsThatMeetAllBanksChangeNothing) {
  EXPECT_EQ(plan_copy({64, 64}, {573, 1}, 64, 8, {32, {1, 65}}).lanes, (Lanes{1, 64}));
}

std::pair<bool, double> rounds_of(const std::vector<int64_t>& ranges, const CopyRows& rows) {
  const CopyRounds of = copy_rounds(ranges, rows, 256);
  return {of.in_vectors, of.rounds};
}

TEST(CopyRounds, VectorsToRowsAlways) {
  EXPECT_EQ(rounds_of({64, 32}, {0, 4, false}), std::pair(true, 2.0));
  EXPECT_EQ(rounds_of({64, 2}, {0, 4, false}), std::pair(true, 1.0));
  EXPECT_EQ(rounds_of({64, 2}, {0, 1, false}), std::pair(false, 1.0));
}

// 5 accesses for each vector, 2 for each element.
TEST(CopyRounds, VectorsAcrossWhereLanesHaveEnough) {
  EXPECT_EQ(rounds_of({64, 16}, {0, 4, true}), std::pair(true, 1.0));
  EXPECT_EQ(rounds_of({64, 12}, {0, 4, true}), std::pair(true, 1.0));
  EXPECT_EQ(rounds_of({64, 8}, {0, 4, true}), std::pair(false, 2.0));
}

// Of 13, 8 lanes leave out 3 in the second round.
TEST(CopyRounds, LanesArePowersOfTwo) {
  EXPECT_EQ(rounds_of({32, 13}, {0, 1, false}), std::pair(false, 2.0));
  EXPECT_EQ(rounds_of({13, 40}, {1, 4, true}), std::pair(true, 1.0));
  EXPECT_EQ(rounds_of({13, 40}, {1, 1, true}), std::pair(false, 3.0));
}

}  // namespace
}  // namespace stria::cost
