// SPDX-License-Identifier: Apache-2.0
// Cutting ranges into about so many parts, for as many units.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::cost {

// Tiles that cut `range` (>= 1) into 1 part, 2 parts, … up to `most`, each number of parts once,
// with the smallest tile that makes it: the evenest. Each is a multiple of `multiple_of`, or the
// range; with `only_even` each divides the range.
std::vector<int64_t> part_sizes(int64_t range, int64_t most, int64_t multiple_of,
                                bool only_even = false);

// How far a number of parts is from what is wanted. Each one too many counts twice: it makes a
// second round for one unit while the others wait.
int64_t parts_off(int64_t parts, int64_t wanted);

// A way to cut: a tile for each range.
struct PartChoice {
  std::vector<int64_t> tiles;
  int64_t parts = 1;
  double points = 1;  // of all parts, over the ranges
  int64_t cuts = 0;   // ranges that are cut
};

// Of all ways that one whose number of parts is nearest to `wanted`, then the one with the fewest
// points beside the ranges, then that which cuts fewer of them, then that which cuts earlier ones.
// Fewer than twice as many parts as are wanted.
PartChoice choose_parts(const std::vector<int64_t>& ranges, int64_t wanted, int64_t multiple_of = 1,
                        bool only_even = false);

}  // namespace stria::cost
