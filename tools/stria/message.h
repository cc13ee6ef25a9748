// SPDX-License-Identifier: Apache-2.0
// The one place where the command says something on stderr: whatever a message was made of, it is
// escaped and fits in kMaxMessageBytes.
#pragma once

#include <string>
#include <string_view>

namespace stria::command {

// `text` as it is shown, with its line end: behind "stria: " unless it says where it belongs to
// ("file:line:column: error: …").
std::string message_line(std::string_view text);

// Prints message_line(text).
void print_message(std::string_view text);

// Prints rendered diagnostics, which say where they belong to; nothing if there are none.
void print_diagnostics(std::string_view text);

}  // namespace stria::command
