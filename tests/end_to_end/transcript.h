// SPDX-License-Identifier: Apache-2.0
// Sessions that a page shows: indented lines, "$ command" and what it prints.
#pragma once

#include <string>
#include <vector>

namespace stria::end_to_end {

// A file of the source tree.
std::string read_page(const std::string& path);

// What follows `start`, up to `end` or the end of the text. Ends the test if `start` is not there.
std::string between(const std::string& text, const std::string& start, const std::string& end);

struct Step {
  std::string command, output;
};

// The indented lines of `text`; a command that ends in "\" goes on in the next line. A blank line
// ends what a command prints.
std::vector<Step> steps_of(const std::string& text);

// Whether `printed` is what the page shows, where a line "…" of the page stands for any lines.
bool shows(const std::string& shown, const std::string& printed);

}  // namespace stria::end_to_end
