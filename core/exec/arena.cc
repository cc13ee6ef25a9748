// SPDX-License-Identifier: Apache-2.0
#include "stria/exec/arena.h"

#include <algorithm>
#include <numeric>

namespace stria::exec {
namespace {
uint64_t rounded(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Places the pieces in this order, each at the lowest offset that is free for its whole life.
uint64_t place_in_order(std::vector<ArenaPiece>& pieces, const std::vector<size_t>& order,
                        uint64_t alignment) {
  std::vector<size_t> placed;  // by offset
  uint64_t arena = 0;
  for (size_t p : order) {
    ArenaPiece& piece = pieces[p];
    piece.offset = 0;
    if (piece.bytes == 0) continue;
    for (size_t other_position : placed) {
      const ArenaPiece& other = pieces[other_position];
      if (other.last_use < piece.first_use || piece.last_use < other.first_use) continue;
      if (other.offset >= piece.offset + piece.bytes)
        break;  // the gap before `other` is large enough
      piece.offset = std::max(piece.offset, rounded(other.offset + other.bytes, alignment));
    }
    auto after =
        std::upper_bound(placed.begin(), placed.end(), piece.offset,
                         [&](uint64_t offset, size_t q) { return offset < pieces[q].offset; });
    placed.insert(after, p);
    arena = std::max(arena, rounded(piece.offset + piece.bytes, alignment));
  }
  return arena;
}

}  // namespace

uint64_t place_pieces(std::vector<ArenaPiece>& pieces, uint64_t alignment) {
  using Key = uint64_t (*)(const ArenaPiece&);
  // Larger keys first. No single order is best: large pieces first wastes little in deep networks,
  // long-lived ones first keeps them from splitting the space, time order suits chains.
  static constexpr Key kKeys[] = {
      [](const ArenaPiece& p) { return p.bytes; },
      [](const ArenaPiece& p) { return static_cast<uint64_t>(p.last_use - p.first_use); },
      [](const ArenaPiece& p) { return p.bytes * (p.last_use - p.first_use + 1); },
      [](const ArenaPiece& p) { return ~static_cast<uint64_t>(p.first_use); },
      [](const ArenaPiece& p) { return static_cast<uint64_t>(p.last_use); },
  };
  const uint64_t least = peak_live_bytes(pieces, alignment);
  std::vector<ArenaPiece> best;
  uint64_t best_arena = 0;
  for (Key key : kKeys) {
    std::vector<size_t> order(pieces.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const uint64_t key_a = key(pieces[a]), key_b = key(pieces[b]);
      return key_a != key_b ? key_a > key_b : pieces[a].bytes > pieces[b].bytes;
    });
    std::vector<ArenaPiece> placed = pieces;
    const uint64_t arena = place_in_order(placed, order, alignment);
    if (best.empty() || arena < best_arena) {
      best = std::move(placed);
      best_arena = arena;
    }
    if (best_arena == least) break;
  }
  pieces = std::move(best);
  return best_arena;
}

uint64_t peak_live_bytes(const std::vector<ArenaPiece>& pieces, uint64_t alignment) {
  std::vector<std::pair<size_t, int64_t>> changes;  // (time, bytes), ends one after the last use
  for (const ArenaPiece& piece : pieces) {
    const auto bytes = static_cast<int64_t>(rounded(piece.bytes, alignment));
    changes.emplace_back(piece.first_use, bytes);
    changes.emplace_back(piece.last_use + 1, -bytes);
  }
  std::sort(changes.begin(), changes.end());  // at one time, ends come first
  int64_t live = 0, peak = 0;
  for (const auto& [time, bytes] : changes) peak = std::max(peak, live += bytes);
  return static_cast<uint64_t>(peak);
}

}  // namespace stria::exec
