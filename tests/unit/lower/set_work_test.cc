// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/set_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/poly/integer_set.h"

namespace stria::lower_detail {
namespace {

using ::testing::HasSubstr;

// The same position in two shapes: a question that only the solver answers.
Result<std::vector<SetPiece>> ask() {
  IntegerSet set = IntegerSet::box({{"a", {0, 6}}, {"b", {0, 10}}, {"c", {0, 10}}, {"d", {0, 6}}});
  set.add_eq(Affine::of("a", 11) + Affine::of("b") - Affine::of("c", 7) - Affine::of("d"));
  return set.pieces();
}

// What it takes.
int64_t cost() {
  SolverBudget counter(int64_t{1} << 40);
  EXPECT_TRUE(ask().ok());
  EXPECT_GT(counter.used(), 1000);
  return counter.used();
}

TEST(SetWork, EachSetHasAShare) {
  const int64_t once = cost();
  SetWork work({.share = 2 * once, .needed = 100 * once});
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(work.needed(ask).ok()) << i;
  SetWork little({.share = once / 4, .needed = 100 * once});
  auto answer = little.needed(ask);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), StatusCode::unknown);
  EXPECT_THAT(answer.status().message(), HasSubstr(fmt::format("than {} solver", once / 4)));
}

TEST(SetWork, AllSetsTogetherHaveALimit) {
  const int64_t once = cost();
  SetWork work({.share = 2 * once, .needed = 10 * once});
  int answered = 0;
  while (answered < 20 && work.needed(ask).ok()) ++answered;
  EXPECT_GE(answered, 8);
  EXPECT_LE(answered, 11);
  auto answer = work.needed(ask);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().message(),
            fmt::format("the index sets of all statements need more than {} solver steps together",
                        10 * once));
  // What asks the solver nothing goes on.
  EXPECT_TRUE(work.needed([] { return IntegerSet::box({{"i", {0, 9}}}).pieces(); }).ok());
}

TEST(SetWork, WhatIsSoughtTakesNothingFromWhatIsNeeded) {
  const int64_t once = cost();
  SetWork work(
      {.share = 2 * once, .needed = 2 * once, .sought_share = once / 4, .sought = 1000 * once});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(work.sought(ask).ok()) << i;
  EXPECT_TRUE(work.needed(ask).ok());
  SetWork once_sought(
      {.share = 2 * once, .needed = 2 * once, .sought_share = 2 * once, .sought = once + once / 2});
  EXPECT_TRUE(once_sought.sought(ask).ok());
  EXPECT_FALSE(once_sought.sought(ask).ok());
  EXPECT_TRUE(once_sought.needed(ask).ok());
}

TEST(SetWork, AnOuterBudgetCountsAll) {
  SolverBudget counter(int64_t{1} << 40);
  SetWork work;
  EXPECT_TRUE(work.needed(ask).ok());
  const int64_t once = counter.used();
  EXPECT_GT(once, 1000);
  EXPECT_TRUE(work.sought(ask).ok());
  EXPECT_EQ(counter.used(), 2 * once);
}

}  // namespace
}  // namespace stria::lower_detail
