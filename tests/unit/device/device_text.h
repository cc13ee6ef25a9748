// SPDX-License-Identifier: Apache-2.0
// The device programs of tests/golden/device, for the tests that run them.
#pragma once

#include <string>

#include "stria/stripe/block.h"

namespace stria::device_text {

// The text of a file there; fails the test if it cannot be read.
std::string text_of(const std::string& name);

// The program of such a file, or of `text`; fails the test if it does not parse.
stripe::Program parsed(const std::string& name);
stripe::Program parsed(const std::string& name, const std::string& text);

// What stands in a program but for its numbers and comments: equal for a program and one that does
// the same with other sizes. A number within a name stays.
std::string without_numbers(const std::string& text);

}  // namespace stria::device_text
