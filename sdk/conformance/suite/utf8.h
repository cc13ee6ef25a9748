// SPDX-License-Identifier: Apache-2.0
// Whether bytes are text, as the boundary wants it.
#pragma once

#include <cstddef>
#include <string_view>

namespace stria::conformance {

// Whole characters only: no surrogates, nothing longer than needed, nothing beyond U+10FFFF.
inline bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const unsigned first = byte(i);
    const int more = first < 0x80                     ? 0
                     : first >= 0xc2 && first <= 0xdf ? 1
                     : first >= 0xe0 && first <= 0xef ? 2
                     : first >= 0xf0 && first <= 0xf4 ? 3
                                                      : -1;
    if (more < 0) return false;
    for (int k = 1; k <= more; ++k)
      if ((byte(i + static_cast<size_t>(k)) & 0xc0u) != 0x80u) return false;
    const unsigned second = byte(i + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return false;
    i += static_cast<size_t>(more) + 1;
  }
  return true;
}

// What is wrong with the bytes of a text, in words; "" if nothing is. A text has a size, and so no
// zero at its end.
inline const char* fault_of_bytes(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return "has a zero in its bytes";
  return is_utf8(text) ? "" : "is no UTF-8";
}

}  // namespace stria::conformance
