// SPDX-License-Identifier: Apache-2.0
// Places pieces of memory that live for intervals of time so that those alive together do not
// overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stria::exec {

struct ArenaPiece {
  uint64_t bytes = 0;
  size_t first_use = 0;  // time, inclusive
  size_t last_use = 0;   // inclusive
  uint64_t offset = 0;   // set by place_pieces
};

// Sets the offsets, multiples of `alignment`, and returns the arena's size: rarely more than 1.05
// of peak_live_bytes, mostly equal to it. Places the pieces one by one, each at the lowest offset
// that is free for its whole life, in a few orders (largest first, longest-lived first, …), then in
// orders near the best one; keeps the smallest arena. The result depends on nothing but the pieces.
// Time: bounded by a count of comparisons, but for n pieces at least 5 n^2 of them.
uint64_t place_pieces(std::vector<ArenaPiece>& pieces, uint64_t alignment);

// The largest sum of (aligned) bytes alive at one time: a lower bound of any arena.
uint64_t peak_live_bytes(const std::vector<ArenaPiece>& pieces, uint64_t alignment);

}  // namespace stria::exec
