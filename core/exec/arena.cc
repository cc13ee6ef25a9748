// SPDX-License-Identifier: Apache-2.0
#include "stria/exec/arena.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace stria::exec {
namespace {
uint64_t rounded(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// How many pairs of pieces one call compares: a few milliseconds for an arena that is within 5% of
// the bound, some ten times as long before it gives up. A count, so that every machine finds the
// same.
constexpr uint64_t kComparisons = 2'000'000, kMostComparisons = 20'000'000;

// Tries orders and remembers the best arena.
class Search {
 public:
  Search(const std::vector<ArenaPiece>& pieces, uint64_t alignment)
      : alignment_(alignment),
        least_(peak_live_bytes(pieces, alignment)),
        trial_(pieces),
        best_(pieces),
        best_order_(pieces.size()) {
    std::iota(best_order_.begin(), best_order_.end(), size_t{0});
  }

  // Places the pieces in this order, each at the lowest offset that is free for its whole life.
  void attempt(const std::vector<size_t>& order) {
    const uint64_t arena = place(order);
    if (tried_ && arena > best_arena_) return;
    tried_ = true;
    best_arena_ = arena;
    best_ = trial_;
    best_order_ = order;
  }
  bool over() const {
    if (best_arena_ == least_) return tried_;
    const bool close = best_arena_ - least_ <= least_ / 20;
    return compared_ >= (close ? kComparisons : kMostComparisons);
  }
  uint64_t best_arena() const { return best_arena_; }
  const std::vector<ArenaPiece>& best() const { return best_; }
  const std::vector<size_t>& best_order() const { return best_order_; }
  // Does the best arena end with this piece?
  bool at_top(size_t p) const { return best_[p].bytes > 0 && end_of(best_[p]) == best_arena_; }

 private:
  uint64_t end_of(const ArenaPiece& piece) const {
    return rounded(piece.offset + piece.bytes, alignment_);
  }

  uint64_t place(const std::vector<size_t>& order) {
    placed_.clear();
    uint64_t arena = 0;
    for (size_t p : order) {
      ArenaPiece& piece = trial_[p];
      piece.offset = 0;
      if (piece.bytes == 0) continue;
      for (size_t other_position : placed_) {
        ++compared_;
        const ArenaPiece& other = trial_[other_position];
        if (other.last_use < piece.first_use || piece.last_use < other.first_use) continue;
        if (other.offset >= piece.offset + piece.bytes)
          break;  // the gap before `other` is large enough
        piece.offset = std::max(piece.offset, end_of(other));
      }
      auto after =
          std::upper_bound(placed_.begin(), placed_.end(), piece.offset,
                           [&](uint64_t offset, size_t q) { return offset < trial_[q].offset; });
      placed_.insert(after, p);
      arena = std::max(arena, end_of(piece));
    }
    return arena;
  }

  const uint64_t alignment_;
  const uint64_t least_;
  uint64_t compared_ = 0;
  std::vector<ArenaPiece> trial_;
  std::vector<size_t> placed_;  // by offset
  bool tried_ = false;
  std::vector<ArenaPiece> best_;
  uint64_t best_arena_ = 0;
  std::vector<size_t> best_order_;
};

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
  Search search(pieces, alignment);
  std::vector<size_t> order = search.best_order();
  for (Key key : kKeys) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const uint64_t key_a = key(pieces[a]), key_b = key(pieces[b]);
      if (key_a != key_b) return key_a > key_b;
      return pieces[a].bytes != pieces[b].bytes ? pieces[a].bytes > pieces[b].bytes : a < b;
    });
    search.attempt(order);
    if (search.over()) break;
  }
  // From the best order on: some piece that is alive with one that the arena ends with is placed
  // before or behind another one it lives with. What is no worse is kept, so that the search
  // wanders over orders of one size.
  std::mt19937 random(1);  // its numbers are the same everywhere
  auto any_of = [&](const std::vector<size_t>& list) { return list[random() % list.size()]; };
  std::vector<size_t> last, neighbours;
  auto neighbours_of = [&](size_t p) -> const std::vector<size_t>& {
    neighbours.clear();
    for (size_t q = 0; q < pieces.size(); ++q)
      if (q != p && pieces[q].bytes > 0 && pieces[q].first_use <= pieces[p].last_use &&
          pieces[p].first_use <= pieces[q].last_use)
        neighbours.push_back(q);
    return neighbours;
  };
  while (!search.over()) {
    order = search.best_order();
    last.clear();
    for (size_t p = 0; p < pieces.size(); ++p)
      if (search.at_top(p)) last.push_back(p);
    size_t moved = any_of(last);
    if (random() % 2 == 0) moved = any_of(neighbours_of(moved));
    const size_t target = any_of(neighbours_of(moved));
    order.erase(std::find(order.begin(), order.end(), moved));
    order.insert(std::find(order.begin(), order.end(), target) + random() % 2, moved);
    search.attempt(order);
  }
  pieces = search.best();
  return search.best_arena();
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
