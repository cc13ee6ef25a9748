// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/joined_name.h"

#include <gtest/gtest.h>

#include "stria/base/status.h"

namespace stria::passes {
namespace {

TEST(JoinedName, IsShortHoweverManyThereAre) {
  EXPECT_EQ(joined_name("kernel_0", "kernel_1"), "kernel_0+kernel_1");
  EXPECT_EQ(joined_name("a+b", "c"), "a+b+c");
  std::string name = "kernel_0";
  for (int i = 1; i < 1000; ++i) {
    name = joined_name(name, fmt::format("kernel_{}", i));
    EXPECT_LE(name.size(), 256U);
  }
  // Once it is short it grows again until it is too long: every number is between two names.
  EXPECT_EQ(name.find("kernel_0+.."), 0U);
  EXPECT_EQ(joined_name(std::string(200, 'a') + "+..98..+z", std::string(100, 'b')),
            std::string(200, 'a') + "+..99..+" + std::string(100, 'b'));
}

TEST(JoinedName, CommentsAreAFewLines) {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) {
    lines = joined_comments(std::move(lines), {fmt::format("line {}", i)});
    EXPECT_LE(lines.size(), 24U);
  }
  EXPECT_EQ(lines.front(), "line 0");
  EXPECT_EQ(lines[16], "… 977 lines more …");
  EXPECT_EQ(lines.back(), "line 999");
  EXPECT_EQ(joined_comments({"a"}, {"b"}), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace stria::passes
