// SPDX-License-Identifier: Apache-2.0
#include "stria/base/shown_text.h"

#include <gtest/gtest.h>

#include <string>

namespace stria {
namespace {

TEST(ShownText, EscapesWhatATerminalObeys) {
  EXPECT_EQ(shown_message("a\x1b[2Jb\xff\nc\td"), "a\\x1b[2Jb\\xff\nc\\x09d");
  EXPECT_EQ(shown_name("a\nb"), "a\\x0ab");
  EXPECT_EQ(shown_message("grün … 日本"), "grün … 日本");
  EXPECT_EQ(shown_message(std::string_view("\0x", 2)), "\\x00x");
}

TEST(ShownText, CutsTheMiddle) {
  const std::string text = "begin" + std::string(100000, 'x') + "end";
  for (size_t limit : {64, 65, 100, 256, 2048}) {
    const std::string shown = shown_message(text, limit);
    EXPECT_LE(shown.size(), limit);
    EXPECT_TRUE(shown.starts_with("begin")) << shown;
    EXPECT_TRUE(shown.ends_with("end")) << shown;
    EXPECT_NE(shown.find("bytes left out"), std::string::npos);
  }
  EXPECT_EQ(cut_text("short", 64), "short");
}

// Every limit and phase: never half a character, never more than the limit.
TEST(ShownText, CutsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += i % 3 == 0 ? "é" : i % 3 == 1 ? "日" : "a";
  for (size_t limit = 64; limit < 200; ++limit) {
    const std::string shown = cut_text(text, limit);
    EXPECT_LE(shown.size(), limit);
    EXPECT_EQ(escaped_lines(shown), shown);
  }
}

// Escapes are longer than the bytes that they stand for.
TEST(ShownText, EscapedTextKeepsTheLimit) {
  for (size_t size : {30, 100, 4000, 5000, 1000000})
    EXPECT_LE(shown_message(std::string(size, '\x1b')).size(), kMaxMessageBytes);
}

}  // namespace
}  // namespace stria
