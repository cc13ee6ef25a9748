// SPDX-License-Identifier: Apache-2.0
// Lanes that hold sums: squares rather than strips, none idle that could work, against trying all.
#include "stria/cost/workgroup/sum_lanes.h"

#include <gtest/gtest.h>

namespace stria::cost {
namespace {

using Lanes = std::vector<int64_t>;
// Of a product: A moves with rows, B with columns; columns come first.
const std::vector<SumRead> kProduct = {{{false, true}, 4}, {{true, false}, 4}};

TEST(SumLanes, AreSquaresOfVectors) {
  // 64 columns and 128 rows in vectors of 4: each of 128 lanes holds 2 by 2 vectors.
  EXPECT_EQ(plan_sum_lanes({16, 32}, kProduct, 128, 2), (Lanes{8, 16}));
  EXPECT_EQ(plan_sum_lanes({32, 32}, kProduct, 256, 2), (Lanes{16, 16}));
  // Of equal ones the first index has the most lanes.
  EXPECT_EQ(plan_sum_lanes({16, 16}, kProduct, 128, 2), (Lanes{16, 8}));
}

TEST(SumLanes, VectorsCostMoreThanElements) {
  // 8 vectors of columns and 56 rows, which are read one by one.
  const std::vector<SumRead> reads = {{{false, true}, 1}, {{true, false}, 4}};
  EXPECT_EQ(plan_sum_lanes({8, 56}, reads, 128, 2), (Lanes{8, 16}));
}

TEST(SumLanes, NoneIsIdleThatCouldWork) {
  EXPECT_EQ(plan_sum_lanes({1, 256}, kProduct, 64, 2), (Lanes{1, 64}));
  EXPECT_EQ(plan_sum_lanes({3, 5}, kProduct, 16, 1), (Lanes{4, 4}));
  EXPECT_EQ(plan_sum_lanes({2, 2}, kProduct, 256, 8), (Lanes{2, 2}));
}

TEST(SumLanes, NeighboursWriteRows) {
  // Four lanes of the first index at least, though fewer would load less.
  const std::vector<SumRead> first_alone = {{{false, true}, 1}};
  EXPECT_EQ(plan_sum_lanes({8, 64}, first_alone, 64, 1), (Lanes{1, 64}));
  EXPECT_EQ(plan_sum_lanes({8, 64}, first_alone, 64, 4), (Lanes{4, 16}));
}

TEST(SumLanes, NoIndexHasNoLanes) { EXPECT_EQ(plan_sum_lanes({}, {}, 256, 1), Lanes()); }

}  // namespace
}  // namespace stria::cost
