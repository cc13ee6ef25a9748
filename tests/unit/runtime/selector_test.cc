// SPDX-License-Identifier: Apache-2.0
// Device selectors and their name patterns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/runtime/device_selector.h"

namespace stria {
namespace {

TEST(Selector, Forms) {
  auto plugin = parse_device_selector("llvm_cpu");
  ASSERT_TRUE(plugin.ok());
  EXPECT_EQ(plugin->plugin, "llvm_cpu");
  EXPECT_EQ(plugin->device, "");
  EXPECT_FALSE(plugin->automatic);
  EXPECT_EQ(parse_device_selector("a-b:17")->device, "17");
  EXPECT_EQ(parse_device_selector("gpu:Acme *: rev B")->device, "Acme *: rev B");
  EXPECT_TRUE(parse_device_selector("auto")->automatic);
}

TEST(Selector, Malformed) {
  for (const char* text : {"", ":", ":0", "a:", "a b", "a/b:0", " auto", "*", "auto:0", "a:-1"}) {
    auto selector = parse_device_selector(text);
    EXPECT_FALSE(selector.ok()) << text;
    EXPECT_EQ(selector.status().code(), StatusCode::invalid_argument);
  }
}

TEST(Glob, Matches) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**", "anything"));
  EXPECT_TRUE(glob_match("Acme*", "ACME 300"));
  EXPECT_TRUE(glob_match("*300*", "Acme 300 rev B"));
  EXPECT_TRUE(glob_match("a?c", "aBc"));
  EXPECT_TRUE(glob_match("[a-c]x[!0-9]", "Bxz"));
  EXPECT_TRUE(glob_match("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(glob_match("[]]", "]"));
}

TEST(Glob, DoesNotMatch) {
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_FALSE(glob_match("a", ""));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_FALSE(glob_match("acme", "acme 300"));
  EXPECT_FALSE(glob_match("[!a]", "A"));
  EXPECT_FALSE(glob_match("a*b", "a-c"));
  EXPECT_FALSE(glob_match("[a", "b"));
}

TEST(Glob, ManyStarsEndSoon) {
  std::string pattern, text(3000, 'a');
  for (int i = 0; i < 300; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", text));
}

}  // namespace
}  // namespace stria
