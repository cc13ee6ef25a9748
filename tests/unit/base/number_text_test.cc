// SPDX-License-Identifier: Apache-2.0
#include "stria/base/number_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace stria {
namespace {

using testing::HasSubstr;

TEST(NumberText, LimitsAreLegal) {
  EXPECT_EQ(parse_integer("1", 1, 4096).value(), 1);
  EXPECT_EQ(parse_integer("4096", 1, 4096).value(), 4096);
  EXPECT_EQ(parse_integer("4097", 1, 4096).status().message(),
            "'4097' is not a whole number from 1 to 4096");
  EXPECT_FALSE(parse_integer("0", 1, 4096).ok());
  EXPECT_EQ(parse_integer("-9223372036854775808", INT64_MIN, 0).value(), INT64_MIN);
  EXPECT_FALSE(parse_integer("9223372036854775808", INT64_MIN, INT64_MAX).ok());
  EXPECT_EQ(parse_unsigned("18446744073709551615", 0, UINT64_MAX).value(), UINT64_MAX);
  EXPECT_FALSE(parse_unsigned("18446744073709551616", 0, UINT64_MAX).ok());
  EXPECT_FALSE(parse_unsigned("-1", 0, UINT64_MAX).ok());
  EXPECT_EQ(parse_number("0.001", 0.001, 86400).value(), 0.001);
  EXPECT_EQ(parse_number("8.64e4", 0.001, 86400).value(), 86400);
  EXPECT_EQ(parse_number("86400.1", 0.001, 86400).status().message(),
            "'86400.1' is not a number from 0.001 to 86400");
  EXPECT_FALSE(parse_number("0.0009", 0.001, 86400).ok());
  EXPECT_EQ(parse_number("0", 0, 1).value(), 0);
}

TEST(NumberText, NothingElseIsANumber) {
  for (const char* text :
       {"",         " ",     " 5",     "5 ",  "+5",    "0x10", "5x",
        "five",     "--5",   "-",      "nan", "NaN",   "inf",  "-inf",
        "infinity", "1e400", "-1e400", "1,5", "1'000", "5\n",  "99999999999999999999999999",
        "\xff",     "\u0665"}) {
    EXPECT_FALSE(parse_integer(text, INT64_MIN, INT64_MAX).ok()) << text;
    const bool long_number = std::string_view(text) == "99999999999999999999999999";
    EXPECT_EQ(parse_number(text, -1e300, 1e300).ok(), long_number) << text;
  }
  for (const char* text : {"1.5", "1e3", "5."}) {
    EXPECT_FALSE(parse_integer(text, 0, 10000).ok()) << text;
    EXPECT_TRUE(parse_number(text, 0, 10000).ok()) << text;
  }
  // What is shown is what a terminal may show, and no more of it than helps.
  EXPECT_THAT(parse_integer("\x1b[1m", 0, 1).status().message(), HasSubstr("'\\x1b[1m'"));
  EXPECT_LT(parse_integer(std::string(10'000'000, '9'), 0, 1).status().message().size(), 400u);
}

}  // namespace
}  // namespace stria
