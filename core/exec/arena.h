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

// Sets the offsets, multiples of `alignment`, and returns the arena's size. Tries a few orders
// (largest first, longest-lived first, …), places each piece at the lowest offset that is free for
// its whole life, and keeps the smallest arena; the result depends on nothing but the pieces. At
// worst quadratic in the number of pieces.
uint64_t place_pieces(std::vector<ArenaPiece>& pieces, uint64_t alignment);

// The largest sum of (aligned) bytes alive at one time: a lower bound of any arena.
uint64_t peak_live_bytes(const std::vector<ArenaPiece>& pieces, uint64_t alignment);

}  // namespace stria::exec
