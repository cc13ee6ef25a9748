// SPDX-License-Identifier: Apache-2.0
// Cutting a range into about so many parts.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::passes {

// Tiles that cut `range` (>= 1) into 1 part, 2 parts, … up to `most`, each number of parts once,
// with the smallest tile that makes it: the evenest. Each is a multiple of `multiple_of`, or the
// range.
std::vector<int64_t> part_sizes(int64_t range, int64_t most, int64_t multiple_of);

// How far a number of parts is from what is wanted. Each one too many counts twice: it makes a
// second round for one unit while the others wait.
int64_t parts_off(int64_t parts, int64_t wanted);

}  // namespace stria::passes
