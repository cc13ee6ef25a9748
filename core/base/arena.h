// SPDX-License-Identifier: Apache-2.0
// Places pieces of memory so that those alive together do not overlap: pieces that live for
// intervals of time, or that say pair by pair which of them are alive together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stria {

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

// Which pairs of pieces are alive together. Takes n^2 / 8 bytes.
class ArenaConflicts {
 public:
  explicit ArenaConflicts(size_t pieces) : words_((pieces + 63) / 64), bits_(pieces * words_, 0) {}
  void add(size_t a, size_t b) {
    set(a, b);
    set(b, a);
  }
  bool between(size_t a, size_t b) const { return bits_[a * words_ + b / 64] >> (b % 64) & 1; }

 private:
  void set(size_t a, size_t b) { bits_[a * words_ + b / 64] |= uint64_t{1} << (b % 64); }

  size_t words_ = 0;
  std::vector<uint64_t> bits_;
};

// The same for pieces that are alive together where `conflicts` says so; their lives matter for the
// orders tried and for the bound only. Pieces that are `fixed` (as many as pieces) keep their
// offsets; they are not part of the arena's size. Each order is tried with the lowest offset and
// with the tightest gap. `least`: a lower bound of the arena, which ends the search when met.
uint64_t place_pieces(std::vector<ArenaPiece>& pieces, uint64_t alignment,
                      const ArenaConflicts& conflicts, const std::vector<bool>& fixed,
                      uint64_t least);

// The most bytes (aligned) of pieces that are alive at one time and all of them together: no
// arena is smaller.
uint64_t peak_live_bytes(const std::vector<ArenaPiece>& pieces, uint64_t alignment,
                         const ArenaConflicts& conflicts);

// The largest sum of (aligned) bytes alive at one time: a lower bound of any arena.
uint64_t peak_live_bytes(const std::vector<ArenaPiece>& pieces, uint64_t alignment);

}  // namespace stria
