// SPDX-License-Identifier: Apache-2.0
// Text as a terminal may show it. Whatever comes from outside (a plugin's message, a driver's log,
// a file's or a folder's name, an option) passes through here before a person sees it, and nowhere
// else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stria {

// No message is longer than this. Its first and its last part say what is worth reading.
inline constexpr size_t kMaxMessageBytes = 2048;
// No name inside a message is longer than this: a message has room for several.
inline constexpr size_t kMaxNameBytes = 256;

// ASCII's control characters.
bool is_control(unsigned char byte);

// Bytes of the UTF-8 character at `at` of `text`; 0 if there is none, or it is a control character
// that a terminal may obey.
size_t printable_length(std::string_view text, size_t at);

// One byte as "\x1b".
std::string escaped_byte(char byte);

// `text` with control characters and bytes that are no UTF-8 as \x1b; lines stay lines. Not cut.
std::string escaped_lines(std::string_view text);

// `text`, at most `max_bytes` long: of a longer one the beginning and the end, cut between
// characters, and between them how much is left out: "abc … (1234 bytes left out) … xyz".
// `max_bytes` is at least 64.
std::string cut_text(std::string_view text, size_t max_bytes);

// A message from outside: escaped and cut; lines stay lines.
std::string shown_message(std::string_view text, size_t max_bytes = kMaxMessageBytes);

// A name or a value from outside: the same, with line ends and tabs escaped too.
std::string shown_name(std::string_view text, size_t max_bytes = kMaxNameBytes);

}  // namespace stria
