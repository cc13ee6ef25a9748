// SPDX-License-Identifier: Apache-2.0
#include "stria/base/refusal.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

namespace stria {
namespace {

// Whoever makes one says whether it refuses, and nobody takes one for a number.
static_assert(!std::is_default_constructible_v<Refusal>);
static_assert(!std::is_convertible_v<Refusal, bool>);
static_assert(std::is_convertible_v<const char*, Refusal>);
static_assert(std::is_convertible_v<std::string, Refusal>);

TEST(Refusal, IsTrueWhereSomethingWasRefused) {
  EXPECT_FALSE(Refusal::none());
  EXPECT_TRUE(Refusal("it is a #stencil"));
  EXPECT_TRUE(Refusal(std::string("it is a #stencil")));
}

// Only none() lets pass, so that a reason that came out empty does not let pass by accident.
TEST(Refusal, RefusesWithAnEmptyReason) {
  EXPECT_TRUE(Refusal(""));
  EXPECT_EQ(Refusal("").reason(), "");
}

TEST(Refusal, KeepsItsReason) {
  const Refusal refusal = "its rows are no plain loop";
  EXPECT_EQ(refusal.reason(), "its rows are no plain loop");
  EXPECT_EQ(Refusal(std::string("its block ") + "never runs").reason(), "its block never runs");
}

TEST(Refusal, IsAPlainValue) {
  Refusal refusal = Refusal::none();
  refusal = "it has one point";
  const Refusal copy = refusal;
  refusal = Refusal::none();
  EXPECT_FALSE(refusal);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy.reason(), "it has one point");
  Refusal given = copy;
  EXPECT_EQ(Refusal(std::move(given)).reason(), "it has one point");
}

Refusal why_not_even(int number, int& asked) {
  ++asked;
  if (number % 2 != 0) return std::to_string(number) + " is odd";
  return Refusal::none();
}

// Without braces, as they stand in passes.
Refusal why_not_all_even(int first, int second, bool also_second, int& asked) {
  STRIA_RETURN_IF_REFUSED(why_not_even(first, asked));
  if (also_second)
    STRIA_RETURN_IF_REFUSED(why_not_even(second, asked));
  else
    return "the second is not looked at";
  return Refusal::none();
}

TEST(ReturnIfRefused, ReturnsTheFirstRefusal) {
  int asked = 0;
  const Refusal refusal = why_not_all_even(1, 3, true, asked);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal.reason(), "1 is odd");
  EXPECT_EQ(asked, 1);
}

TEST(ReturnIfRefused, GoesOnWhereNothingIsRefused) {
  int asked = 0;
  EXPECT_FALSE(why_not_all_even(2, 4, true, asked));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(why_not_all_even(2, 3, true, asked).reason(), "3 is odd");
  EXPECT_EQ(why_not_all_even(2, 3, false, asked).reason(), "the second is not looked at");
}

}  // namespace
}  // namespace stria
