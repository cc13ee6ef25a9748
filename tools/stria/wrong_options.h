// SPDX-License-Identifier: Apache-2.0
// What is wrong with the options of a verb, where CLI11 does not say it well.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace stria::command {

// The first word that looks like an option of `app` and is none, said with the nearest one; "" if
// there is no such word. CLI11 complains of what is missing before it looks at what is wrong.
std::string unknown_option(const CLI::App& app, int count, const char* const* arguments);

// A word that the verb has no place for: one behind a flag that takes no value, as in
// `--json FILE`, or one too many. "" if there is none.
std::string unexpected_word(const CLI::App& app, int count, const char* const* arguments);

// The first option that takes a file or a folder and was given none; "" if there is none. To a verb
// an empty name is an option that was not given.
std::string option_without_file(const CLI::App& app);

}  // namespace stria::command
