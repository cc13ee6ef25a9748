// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/pick/glob.h"

#include <optional>

namespace stria {
namespace {

// The bytes of the character that `text` begins with: one where the bytes are no UTF-8.
size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0xc2   ? 1
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 1;
  if (length > text.size()) return 1;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 1;
  return length;
}

// Takes the first character off. Its bytes as a number keep the order of Unicode, with ASCII's
// capital letters as small ones.
uint32_t take(std::string_view& text) {
  const size_t length = character_length(text);
  uint32_t value = 0;
  for (size_t i = 0; i < length; ++i) value = value << 8 | static_cast<unsigned char>(text[i]);
  text.remove_prefix(length);
  return value >= 'A' && value <= 'Z' ? value - 'A' + 'a' : value;
}

// Does the set that starts behind '[' hold `c`? Moves `pattern` behind its ']'.
bool set_match(std::string_view& pattern, uint32_t c) {
  const bool negated = !pattern.empty() && pattern[0] == '!';
  if (negated) pattern.remove_prefix(1);
  bool found = false;
  for (bool first = true; !pattern.empty() && (first || pattern[0] != ']'); first = false) {
    const uint32_t low = take(pattern);
    uint32_t high = low;
    if (pattern.size() >= 2 && pattern[0] == '-' && pattern[1] != ']') {
      pattern.remove_prefix(1);
      high = take(pattern);
    }
    found = found || (low <= c && c <= high);
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  return found != negated;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  // On a mismatch the last star takes one character more: no recursion.
  std::optional<std::string_view> star;
  std::string_view star_text;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      star = pattern;
      star_text = text;
      continue;
    }
    bool matched = false;
    if (!text.empty() && !pattern.empty()) {
      const uint32_t c = take(text);
      const uint32_t p = take(pattern);
      matched = p == '?' || (p == '[' ? set_match(pattern, c) : p == c);
    } else if (text.empty()) {
      return pattern.empty();
    }
    if (matched) continue;
    if (!star || star_text.empty()) return false;
    (void)take(star_text);
    pattern = *star;
    text = star_text;
  }
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

}  // namespace stria
