// SPDX-License-Identifier: Apache-2.0
// Patterns of names.
#include <gtest/gtest.h>

#include <string>

#include "stria/runtime/pick/glob.h"

namespace stria {
namespace {

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
  EXPECT_TRUE(glob_match("[*]", "*"));
}

TEST(Glob, DoesNotMatch) {
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_FALSE(glob_match("a", ""));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_FALSE(glob_match("acme", "acme 300"));
  EXPECT_FALSE(glob_match("[!a]", "A"));
  EXPECT_FALSE(glob_match("a*b", "a-c"));
  EXPECT_FALSE(glob_match("[a", "b"));
  EXPECT_FALSE(glob_match("[", "a"));
  EXPECT_FALSE(glob_match("[*]", "x"));
}

TEST(Glob, CharactersAreThoseOfUtf8) {
  EXPECT_TRUE(glob_match("gr?n", "grün"));
  EXPECT_FALSE(glob_match("gr??n", "grün"));
  EXPECT_FALSE(glob_match("*??", "€"));
  EXPECT_TRUE(glob_match("*?", "€"));
  EXPECT_TRUE(glob_match("[äöü]", "ö"));
  EXPECT_TRUE(glob_match("[!a-z]", "Ω"));
  EXPECT_TRUE(glob_match("[α-ω]", "λ"));
  // Bytes that are no UTF-8 count one by one, and end nothing.
  EXPECT_TRUE(glob_match("a??", "a\xff\xfe"));
  EXPECT_TRUE(glob_match("*", "\xe2\x82"));
  EXPECT_FALSE(glob_match("?", "\xe2\x82"));
}

TEST(Glob, ManyStarsEndSoon) {
  std::string pattern, text(3000, 'a');
  for (int i = 0; i < 300; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", text));
}

}  // namespace
}  // namespace stria
