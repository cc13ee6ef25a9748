// SPDX-License-Identifier: Apache-2.0
#include "stria/base/arena.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace stria {
namespace {
uint64_t rounded(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// How many pairs of pieces one call compares: a few milliseconds for an arena that is within 5% of
// the bound, some ten times as long before it gives up. A count, so that every machine finds the
// same.
constexpr uint64_t kComparisons = 2'000'000, kMostComparisons = 20'000'000;

// Pieces whose lives overlap.
struct Lives {
  const std::vector<ArenaPiece>& pieces;
  bool operator()(size_t a, size_t b) const {
    return pieces[a].first_use <= pieces[b].last_use && pieces[b].first_use <= pieces[a].last_use;
  }
};
struct Pairs {
  const ArenaConflicts& conflicts;
  bool operator()(size_t a, size_t b) const { return conflicts.between(a, b); }
};

enum class Fit { lowest, tightest };

// Tries orders and remembers the best arena.
template <typename Together>
class Search {
 public:
  // Pieces that are not in `movable` keep their offsets.
  Search(const std::vector<ArenaPiece>& pieces, uint64_t alignment, Together together,
         std::vector<size_t> movable, uint64_t least, uint64_t most_orders)
      : alignment_(alignment),
        least_(least),
        most_orders_(most_orders),
        together_(together),
        trial_(pieces),
        best_(pieces),
        best_order_(std::move(movable)) {
    std::vector<bool> moves(pieces.size());
    for (size_t p : best_order_) moves[p] = true;
    for (size_t p = 0; p < pieces.size(); ++p)
      if (!moves[p] && pieces[p].bytes > 0) fixed_.push_back(p);
    std::sort(fixed_.begin(), fixed_.end(), [&](size_t a, size_t b) {
      return std::pair(pieces[a].offset, a) < std::pair(pieces[b].offset, b);
    });
  }

  // Places the pieces in this order, each where it is free for its whole life.
  void attempt(const std::vector<size_t>& order, Fit fit) {
    const uint64_t arena = place(order, fit);
    ++orders_;
    if (tried_ && arena > best_arena_) return;
    tried_ = true;
    best_arena_ = arena;
    best_ = trial_;
    best_order_ = order;
    best_fit_ = fit;
  }
  bool over() const {
    if (best_arena_ <= least_) return tried_;
    if (orders_ >= most_orders_) return true;
    const bool close = best_arena_ - least_ <= least_ / 20;
    return compared_ >= (close ? kComparisons : kMostComparisons);
  }
  uint64_t best_arena() const { return best_arena_; }
  const std::vector<ArenaPiece>& best() const { return best_; }
  const std::vector<size_t>& best_order() const { return best_order_; }
  Fit best_fit() const { return best_fit_; }
  // Does the best arena end with this piece?
  bool at_top(size_t p) const { return best_[p].bytes > 0 && end_of(best_[p]) == best_arena_; }

 private:
  uint64_t end_of(const ArenaPiece& piece) const {
    return rounded(piece.offset + piece.bytes, alignment_);
  }

  uint64_t place(const std::vector<size_t>& order, Fit fit) {
    placed_ = fixed_;
    uint64_t arena = 0;
    for (size_t p : order) {
      ArenaPiece& piece = trial_[p];
      piece.offset = 0;
      if (piece.bytes == 0) continue;
      piece.offset = fit == Fit::lowest ? lowest(p) : tightest(p);
      auto after =
          std::upper_bound(placed_.begin(), placed_.end(), piece.offset,
                           [&](uint64_t offset, size_t q) { return offset < trial_[q].offset; });
      placed_.insert(after, p);
      arena = std::max(arena, end_of(piece));
    }
    return arena;
  }

  uint64_t lowest(size_t p) {
    uint64_t free = 0;
    for (size_t q : placed_) {
      ++compared_;
      if (!together_(p, q)) continue;
      if (trial_[q].offset >= free + trial_[p].bytes) break;  // the gap before q is large enough
      free = std::max(free, end_of(trial_[q]));
    }
    return free;
  }

  // The lowest of the smallest gaps that hold the piece; behind everything if none does.
  uint64_t tightest(size_t p) {
    uint64_t free = 0, best = 0, smallest = 0;
    bool found = false;
    for (size_t q : placed_) {
      ++compared_;
      if (!together_(p, q)) continue;
      const uint64_t begin = trial_[q].offset;
      if (begin >= free + trial_[p].bytes && (!found || begin - free < smallest)) {
        found = true;
        smallest = begin - free;
        best = free;
      }
      free = std::max(free, end_of(trial_[q]));
    }
    return found ? best : free;
  }

  const uint64_t alignment_;
  const uint64_t least_, most_orders_;
  const Together together_;
  uint64_t compared_ = 0, orders_ = 0;
  std::vector<ArenaPiece> trial_;
  std::vector<size_t> fixed_, placed_;  // by offset
  bool tried_ = false;
  std::vector<ArenaPiece> best_;
  uint64_t best_arena_ = 0;
  std::vector<size_t> best_order_;
  Fit best_fit_ = Fit::lowest;
};

// Larger keys first. No single order is best: large pieces first wastes little in deep networks,
// long-lived ones first keeps them from splitting the space, time order suits chains.
std::vector<std::vector<uint64_t>> keys_of(const std::vector<ArenaPiece>& pieces) {
  using Key = uint64_t (*)(const ArenaPiece&);
  static constexpr Key kKeys[] = {
      [](const ArenaPiece& p) { return p.bytes; },
      [](const ArenaPiece& p) { return static_cast<uint64_t>(p.last_use - p.first_use); },
      [](const ArenaPiece& p) { return p.bytes * (p.last_use - p.first_use + 1); },
      [](const ArenaPiece& p) { return ~static_cast<uint64_t>(p.first_use); },
      [](const ArenaPiece& p) { return static_cast<uint64_t>(p.last_use); },
  };
  std::vector<std::vector<uint64_t>> keys;
  for (Key key : kKeys) {
    keys.emplace_back();
    for (const ArenaPiece& piece : pieces) keys.back().push_back(key(piece));
  }
  return keys;
}

template <typename Together>
uint64_t search(std::vector<ArenaPiece>& pieces, uint64_t alignment, Together together,
                std::vector<size_t> movable, uint64_t least, uint64_t most_orders,
                const std::vector<std::vector<uint64_t>>& keys, const std::vector<Fit>& fits) {
  Search<Together> search(pieces, alignment, together, std::move(movable), least, most_orders);
  std::vector<size_t> order = search.best_order();
  for (const std::vector<uint64_t>& key : keys) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (key[a] != key[b]) return key[a] > key[b];
      return pieces[a].bytes != pieces[b].bytes ? pieces[a].bytes > pieces[b].bytes : a < b;
    });
    for (Fit fit : fits)
      if (!search.over()) search.attempt(order, fit);
    if (search.over()) break;
  }
  // From the best order on: some piece that is alive with one that the arena ends with is placed
  // before or behind another one it lives with. What is no worse is kept, so that the search
  // wanders over orders of one size.
  std::mt19937 random(1);  // its numbers are the same everywhere
  auto any_of = [&](const std::vector<size_t>& list) { return list[random() % list.size()]; };
  std::vector<size_t> last, neighbours, all = order;
  std::sort(all.begin(), all.end());
  auto neighbours_of = [&](size_t p) -> const std::vector<size_t>& {
    neighbours.clear();
    for (size_t q : all)
      if (q != p && pieces[q].bytes > 0 && together(p, q)) neighbours.push_back(q);
    return neighbours;
  };
  while (!search.over()) {
    order = search.best_order();
    last.clear();
    for (size_t p : all)
      if (search.at_top(p)) last.push_back(p);
    size_t moved = any_of(last);
    if (neighbours_of(moved).empty()) break;  // it lies on what is fixed
    if (random() % 2 == 0) moved = any_of(neighbours);
    const size_t target = any_of(neighbours_of(moved));
    order.erase(std::find(order.begin(), order.end(), moved));
    order.insert(std::find(order.begin(), order.end(), target) + random() % 2, moved);
    search.attempt(order, search.best_fit());
  }
  pieces = search.best();
  return search.best_arena();
}

}  // namespace

uint64_t place_pieces(std::vector<ArenaPiece>& pieces, uint64_t alignment) {
  std::vector<size_t> movable(pieces.size());
  std::iota(movable.begin(), movable.end(), size_t{0});
  const std::vector<ArenaPiece> lives = pieces;
  return search(pieces, alignment, Lives{lives}, std::move(movable),
                peak_live_bytes(pieces, alignment), ~uint64_t{0}, keys_of(pieces), {Fit::lowest});
}

uint64_t place_pieces(std::vector<ArenaPiece>& pieces, uint64_t alignment,
                      const ArenaConflicts& conflicts, const std::vector<bool>& fixed,
                      uint64_t least) {
  std::vector<size_t> movable;
  for (size_t p = 0; p < pieces.size(); ++p)
    if (!fixed[p]) movable.push_back(p);
  std::vector<std::vector<uint64_t>> keys = keys_of(pieces);
  // The bytes that may not be where a piece is.
  std::vector<uint64_t> degree(pieces.size());
  for (size_t a = 0; a < pieces.size(); ++a)
    for (size_t b = 0; b < pieces.size(); ++b)
      if (a != b && conflicts.between(a, b)) degree[a] += pieces[b].bytes;
  keys.push_back(std::move(degree));
  // The bound may be out of reach: pieces of a few kernels are not tried for long.
  const uint64_t most_orders = 50 + 100 * pieces.size();
  return search(pieces, alignment, Pairs{conflicts}, std::move(movable), least, most_orders, keys,
                {Fit::lowest, Fit::tightest});
}

uint64_t peak_live_bytes(const std::vector<ArenaPiece>& pieces, uint64_t alignment,
                         const ArenaConflicts& conflicts) {
  std::vector<size_t> by_start(pieces.size()), live, together;
  std::iota(by_start.begin(), by_start.end(), size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](size_t a, size_t b) { return pieces[a].first_use < pieces[b].first_use; });
  uint64_t peak = 0;
  for (size_t i = 0; i < by_start.size();) {
    const size_t time = pieces[by_start[i]].first_use;
    std::erase_if(live, [&](size_t p) { return pieces[p].last_use < time; });
    for (; i < by_start.size() && pieces[by_start[i]].first_use == time; ++i)
      live.push_back(by_start[i]);
    uint64_t sum = 0;
    for (size_t p : live) sum += rounded(pieces[p].bytes, alignment);
    if (sum <= peak) continue;
    // Pieces alive at one time may still lie in different memories: the largest first, those that
    // all share one.
    std::sort(live.begin(), live.end(), [&](size_t a, size_t b) {
      return pieces[a].bytes != pieces[b].bytes ? pieces[a].bytes > pieces[b].bytes : a < b;
    });
    together.clear();
    sum = 0;
    for (size_t p : live) {
      if (!std::all_of(together.begin(), together.end(),
                       [&](size_t q) { return conflicts.between(p, q); }))
        continue;
      together.push_back(p);
      sum += rounded(pieces[p].bytes, alignment);
    }
    peak = std::max(peak, sum);
  }
  return peak;
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

}  // namespace stria
