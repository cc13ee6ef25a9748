// SPDX-License-Identifier: Apache-2.0
// What a block is called that was made of two, however many those were made of.
#pragma once

#include <string>
#include <vector>

namespace stria::passes {

// "kernel_0+kernel_1+kernel_2"; of more than fits in 256 bytes the first and the last one, and how
// many are between them: "kernel_0+..98..+kernel_99". Either name may be such a name.
std::string joined_name(const std::string& a, const std::string& b);

// The lines of `a`, then those of `b`; of more than 24 the first 16 and the last 7, and between
// them "… 9 lines more …". Either list may be such a list.
std::vector<std::string> joined_comments(std::vector<std::string> a, std::vector<std::string> b);

}  // namespace stria::passes
