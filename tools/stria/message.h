// SPDX-License-Identifier: Apache-2.0
// The one place where the command writes messages to stderr. It escapes every message, and cuts it
// to kMaxMessageBytes.
#pragma once

#include <string>
#include <string_view>

namespace stria::command {

// `text` as it is printed, with its line end. "stria: " stands before it, unless the text says
// where it belongs ("file:line:column: error: …").
std::string message_line(std::string_view text);

// Prints message_line(text).
void print_message(std::string_view text);

// Prints rendered diagnostics, which say where they belong. Prints nothing if there are none.
void print_diagnostics(std::string_view text);

}  // namespace stria::command
