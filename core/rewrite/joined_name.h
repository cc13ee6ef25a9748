// SPDX-License-Identifier: Apache-2.0
// The name and the comments of a block that was made of two. They stay short, however many blocks
// these were made of.
#pragma once

#include <string>
#include <vector>

namespace stria::passes {

// "kernel_0+kernel_1+kernel_2". If that has more than 256 bytes: the first and the last name, and
// how many are between them, as in "kernel_0+..98..+kernel_99". `a` and `b` may be such names.
std::string joined_name(const std::string& a, const std::string& b);

// The lines of `a`, then those of `b`. If there are more than 24: the first 16 and the last 7, and
// between them "… 9 lines more …". `a` and `b` may be such lists.
std::vector<std::string> joined_comments(std::vector<std::string> a, std::vector<std::string> b);

}  // namespace stria::passes
