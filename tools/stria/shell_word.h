// SPDX-License-Identifier: Apache-2.0
// Words of commands that messages print, for a person to copy.
#pragma once

#include <filesystem>
#include <string>

namespace stria::command {

// In quotes, and readable on a terminal: what cannot stand there as it is stands there escaped, as
// the shell reads it.
std::string shell_quoted(const std::filesystem::path& path);
// As it is where the shell takes it for one word, else in quotes.
std::string shell_word(const std::string& text);

}  // namespace stria::command
