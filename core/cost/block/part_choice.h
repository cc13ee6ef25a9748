// SPDX-License-Identifier: Apache-2.0
// Cuts ranges into about as many parts as there are units.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::cost {

// The tiles that cut `range` (>= 1) into 1 part, 2 parts, … up to `most`. Each number of parts
// comes once, with the smallest tile that makes it: the most even cut. Each tile is a multiple of
// `multiple_of`, or the range; with `only_even` each divides the range.
std::vector<int64_t> part_sizes(int64_t range, int64_t most, int64_t multiple_of,
                                bool only_even = false);

// How far a number of parts is from the wanted one. Each one too many counts twice: it makes a
// second round for one unit while the others wait.
int64_t parts_off(int64_t parts, int64_t wanted);

// A way to cut: a tile for each range.
struct PartChoice {
  std::vector<int64_t> tiles;
  int64_t parts = 1;
  double points = 1;  // points of all parts over the points of the ranges
  int64_t cuts = 0;   // how many ranges are cut
};

// The way whose number of parts is closest to `wanted`. Among equals, the one with the fewest
// points beyond the ranges, then the one that cuts fewer of them, then the one that cuts earlier
// ones. It has fewer than twice as many parts as are wanted.
PartChoice choose_parts(const std::vector<int64_t>& ranges, int64_t wanted, int64_t multiple_of = 1,
                        bool only_even = false);

}  // namespace stria::cost
