// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <cstdio>

#include "stria/base/shown_text.h"

namespace stria::command {
namespace {

// With what stands around the text, the whole has to fit.
constexpr size_t kMaxText = kMaxMessageBytes - 16;

std::string with_line_end(std::string text) {
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

std::string message_line(std::string_view text) {
  const bool placed = text.find(": error: ") != std::string_view::npos;
  return with_line_end((placed ? "" : "stria: ") + shown_message(text, kMaxText));
}

void print_message(std::string_view text) {
  const std::string line = message_line(text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_diagnostics(std::string_view text) {
  if (text.empty()) return;
  const std::string lines = with_line_end(shown_message(text, kMaxText));
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

}  // namespace stria::command
