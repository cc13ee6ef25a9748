// SPDX-License-Identifier: Apache-2.0
#include "stria/base/shown_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace stria {
namespace {

// A cut at `at` would be inside a character.
bool continues(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80;
}

// What is shown of at most this much is exact: what is cut away anyway need not be looked at.
std::string_view within(std::string_view text, size_t max_bytes, std::string& storage) {
  if (text.size() <= 2 * max_bytes) return text;
  storage = cut_text(text, 2 * max_bytes);
  return storage;
}

}  // namespace

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

size_t printable_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return is_control(static_cast<unsigned char>(first)) ? 0 : 1;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : (first & 0xF0u) == 0xE0       ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0) return 0;
  unsigned code = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0u) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3Fu);
  }
  const bool shortest =
      length == 2 || (length == 3 ? code >= 0x800 : code >= 0x10000 && code <= 0x10FFFF);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return shortest && !surrogate && code >= 0xA0 ? length : 0;
}

std::string escaped_byte(char byte) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

std::string escaped_lines(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = text[i] == '\n' ? 1 : printable_length(text, i);
    out += length == 0 ? escaped_byte(text[i]) : std::string(text.substr(i, length));
    i += std::max<size_t>(length, 1);
  }
  return out;
}

std::string cut_text(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  // The note's length depends on how much is left out: this is as long as it gets.
  constexpr size_t kNoteBytes = 48;
  const size_t kept = std::max<size_t>(max_bytes, 64) - kNoteBytes;
  size_t head = kept * 3 / 4;
  size_t tail = text.size() - (kept - head);
  while (head > 0 && continues(text, head)) --head;
  while (continues(text, tail)) ++tail;
  return fmt::format("{} … ({} bytes left out) … {}", text.substr(0, head), tail - head,
                     text.substr(tail));
}

std::string shown_message(std::string_view text, size_t max_bytes) {
  std::string storage;
  return cut_text(escaped_lines(within(text, max_bytes, storage)), max_bytes);
}

std::string shown_name(std::string_view text, size_t max_bytes) {
  std::string storage;
  std::string out;
  for (char c : escaped_lines(within(text, max_bytes, storage)))
    out += c == '\n' ? escaped_byte(c) : std::string(1, c);
  return cut_text(out, max_bytes);
}

}  // namespace stria
