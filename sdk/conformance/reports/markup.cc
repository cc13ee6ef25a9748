// SPDX-License-Identifier: Apache-2.0
#include "reports/markup.h"

#include <cstddef>

namespace stria::conformance {
namespace {

// Bytes of the UTF-8 character at `at`; 0 if there is none.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const size_t count = first >= 0xf0 && first < 0xf5 ? 4
                       : first >= 0xe0               ? 3
                       : first >= 0xc2               ? 2
                                                     : 0;
  if (count == 0 || first >= 0xf5 || at + count > text.size()) return 0;
  unsigned code = first & (0xffu >> (count + 1));
  for (size_t i = 1; i < count; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3fu);
  }
  const bool is_short = (count == 3 && code < 0x800) || (count == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return is_short || is_surrogate || code > 0x10ffff || (code & 0xfffe) == 0xfffe ? 0 : count;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t count = character_bytes(text, at);
    const bool is_control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (count == 0 || is_control || c == 0x7f)
      out += "\xef\xbf\xbd";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += text.substr(at, count);
    at += count == 0 ? 1 : count;
  }
  return out;
}

}  // namespace stria::conformance
