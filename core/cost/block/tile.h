// SPDX-License-Identifier: Apache-2.0
// A tile's sizes, and arithmetic on them.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace stria::cost {

// Points of a tile along each index, in the table's order; 1 to the index's range.
using Tile = std::vector<int64_t>;

// The product, or the largest number if the product is beyond.
inline int64_t saturating_product(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<int64_t>::max() : out;
}

// The smallest power of two that is not less.
inline int64_t power_of_two_above(int64_t n) {
  return n <= 1 ? 1 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}

}  // namespace stria::cost
