// SPDX-License-Identifier: Apache-2.0
#include "shell_word.h"

#include <algorithm>

#include "stria/base/shown_text.h"

namespace stria::command {

std::string shell_quoted(const std::filesystem::path& path) {
  const std::string text = path.string();
  const std::string shown = shown_name(text, text.size() * 4 + kMaxNameBytes);
  if (shown == text && text.find('\'') == std::string::npos) return "'" + text + "'";
  std::string out = "$'";
  for (size_t i = 0; i < text.size();) {
    const size_t length = printable_length(text, i);
    if (text[i] == '\'' || text[i] == '\\') out += '\\';
    out += length == 0 ? escaped_byte(text[i]) : text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out + "'";
}

std::string shell_word(const std::string& text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_-+./:=,@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return is_plain ? text : shell_quoted(text);
}

}  // namespace stria::command
