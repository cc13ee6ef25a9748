// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "stria/cost/block/walk_bytes.h"

namespace stria::cost {
namespace {

TEST(WalkBytes, OfACopyAndATranspose) {
  const WalkedView rows{4, {100, 1}}, columns{4, {1, 50}};
  // Both views along the inner index: 4 bytes each, for 50 x 100 points.
  EXPECT_DOUBLE_EQ(walk_bytes({50, 100}, {rows, rows}, 64), 5000 * 8.0);
  // Either order walks one of them across: a line of 64 for each element.
  EXPECT_DOUBLE_EQ(walk_bytes({50, 100}, {rows, columns}, 64), 5000 * (4 + 64.0));
  // A step that is shorter than a line brings as much of it.
  EXPECT_DOUBLE_EQ(walk_bytes({50, 8}, {WalkedView{4, {8, 1}}, WalkedView{4, {1, 3}}}, 64),
                   400 * (4 + 12.0));
  // Backward is like forward.
  EXPECT_DOUBLE_EQ(walk_bytes({50, 100}, {WalkedView{4, {-100, -1}}}, 64), 5000 * 4.0);
}

TEST(WalkBytes, WhatDoesNotMoveStaysForARow) {
  // C[i, j] += A[i, k] B[k, j] for 10, 20, 30: along j, A counts once for 20 points.
  EXPECT_DOUBLE_EQ(
      walk_bytes({10, 20, 30},
                 {WalkedView{4, {30, 0, 1}}, WalkedView{4, {0, 1, 20}}, WalkedView{4, {20, 1, 0}}},
                 64),
      6000 * (4 / 20.0 + 4 + 4));
}

TEST(WalkBytes, OfOnePoint) {
  EXPECT_DOUBLE_EQ(walk_bytes({}, {WalkedView{8, {}}, WalkedView{2, {}}}, 64), 10);
  EXPECT_DOUBLE_EQ(walk_bytes({1, 1}, {WalkedView{8, {5, 5}}}, 64), 8);
  // Elements wider than a line move whole.
  EXPECT_DOUBLE_EQ(walk_bytes({3}, {WalkedView{8, {1000}}}, 4), 24);
}

}  // namespace
}  // namespace stria::cost
