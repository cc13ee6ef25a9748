// SPDX-License-Identifier: Apache-2.0
// The options of a plugin's own pass: numbers, truth values, texts with their escapes, and all that
// is none of these.
#include "stria/sdk/pass_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stria::sdk {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  try {
    PassOptions options(text);
    options.integer("n", 0, INT64_MIN, INT64_MAX);
    options.flag("f", false);
    options.text("t", "");
    options.finish();
  } catch (const Error& error) {
    return error.outcome()->message;
  }
  return "";
}

TEST(PassOptions, AreRead) {
  PassOptions options(R"({"n": -12, "f": true, "t": "a\"b\\c\/d\n\t ä"})");
  EXPECT_EQ(options.integer("n", 0, -20, 20), -12);
  EXPECT_TRUE(options.flag("f", false));
  EXPECT_EQ(options.text("t", ""), "a\"b\\c/d\n\t ä");
  EXPECT_EQ(options.integer("other", 7, 0, 9), 7);
  options.finish();
  EXPECT_EQ(refusal_of(""), "");
  EXPECT_EQ(refusal_of(" { } "), "");
  EXPECT_EQ(refusal_of(R"({"n": 9223372036854775807})"), "");
}

TEST(PassOptions, AreRefused) {
  EXPECT_THAT(refusal_of(R"({"n": 9223372036854775808})"), HasSubstr("is no whole number"));
  EXPECT_THAT(refusal_of(R"({"n": 99999999999999999999})"), HasSubstr("is no whole number"));
  EXPECT_THAT(refusal_of(R"({"n": -9223372036854775809})"), HasSubstr("is no whole number"));
  EXPECT_THAT(refusal_of(R"({"n": 1.5})"), HasSubstr("is no whole number"));
  EXPECT_THAT(refusal_of(R"({"f": 1})"), HasSubstr("neither true nor false"));
  EXPECT_THAT(refusal_of(R"({"t": 1})"), HasSubstr("is no text"));
  EXPECT_THAT(refusal_of(R"({"m": 1})"), HasSubstr("there is no option 'm'"));
  for (const char* text : {"[", "{", "{\"n\"", "{\"n\":", "{\"n\": 1", "{\"n\": 1} x", "{n: 1}",
                           "{\"t\": \"", "{\"t\": \"a\\", "{\"t\": \"\\u0041\"}", "{\"n\": [1]}"})
    EXPECT_THAT(refusal_of(text), HasSubstr("the options are no object")) << text;
}

}  // namespace
}  // namespace stria::sdk
