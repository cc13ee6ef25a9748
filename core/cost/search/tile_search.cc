// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/search/tile_search.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <set>
#include <utility>

namespace stria::cost {
namespace {

// The next size to try after `size`, or 0.
int64_t doubled(const std::vector<int64_t>& sizes, int64_t size) {
  if (size == sizes.back()) return 0;
  auto next = std::lower_bound(sizes.begin(), sizes.end(),
                               size > sizes.back() / 2 ? sizes.back() : 2 * size);
  return next == sizes.end() ? sizes.back() : *next;
}

bool is_better(double cost, const Tile& tile, const ScoredTile& than) {
  return cost < than.score || (cost == than.score && tile > than.tile);
}

// The cheapest tiles of those that were looked at.
class KeptTiles {
 public:
  KeptTiles(const TileSpace& space, const SearchCost& cost, size_t keep)
      : space_(space), cost_(cost), keep_(keep) {}

 protected:
  double look_at(const Tile& tile) {
    const double cost = cost_.of(tile);
    ++out_.looked_at;
    keep(tile, cost);
    return cost;
  }
  // The same once more takes no time.
  double ask(const Tile& tile) {
    const auto [at, added] = asked_.try_emplace(tile, 0);
    if (added) at->second = cost_.of(tile);
    out_.looked_at += added;
    keep(tile, at->second);
    return at->second;
  }
  // Infinite, or not below `limit`, if the tile costs no less.
  double ask_below(const Tile& tile, double limit) {
    if (!asked_.contains(tile) && cost_.bound(tile, tile) >= limit)
      return std::numeric_limits<double>::infinity();
    return ask(tile);
  }

  void keep(const Tile& tile, double cost) {
    if (cost == std::numeric_limits<double>::infinity()) return;
    if (out_.best.size() == keep_ && !is_better(cost, tile, out_.best.back())) return;
    auto at = std::find_if(out_.best.begin(), out_.best.end(), [&](const ScoredTile& other) {
      return !is_better(other.score, other.tile, {tile, cost});
    });
    if (at != out_.best.end() && at->tile == tile) return;
    out_.best.insert(at, {tile, cost});
    if (out_.best.size() > keep_) out_.best.pop_back();
  }

  // Gives one index at a time its best size until none gets better. `best` is the tile's cost.
  void descend(Tile& tile, double& best) {
    for (bool better = true; better;) {
      better = false;
      for (size_t i = 0; i < space_.size(); ++i) {
        Tile next = tile;
        for (int64_t size : space_[i]) {
          next[i] = size;
          if (cost_.hopeless(next)) break;
          if (next == tile) continue;
          const double cost = ask_below(next, best);
          if (cost >= best) continue;
          best = cost;
          tile[i] = size;
          better = true;
        }
      }
    }
  }

  const TileSpace& space_;
  const SearchCost& cost_;
  const size_t keep_;
  Ranking out_;

 private:
  AskedTiles own_;
  AskedTiles& asked_ = cost_.asked ? *cost_.asked : own_;
};

class Quick : KeptTiles {
 public:
  using KeptTiles::KeptTiles;

  Ranking run() && {
    Tile smallest, middle, largest;
    for (const std::vector<int64_t>& sizes : space_) {
      smallest.push_back(sizes.front());
      middle.push_back(sizes[sizes.size() / 2]);
      largest.push_back(sizes.back());
    }
    if (cost_.hopeless(smallest)) return std::move(out_);
    out_.least = cost_.bound(smallest, largest);
    from(smallest);
    if (!is_enough() && !cost_.hopeless(middle)) from(middle);
    if (!is_enough() && !cost_.rough) from(grown(smallest, false));
    if (!is_enough() && !cost_.rough) from(grown(smallest, true));
    if (!is_enough() && !cost_.rough && !out_.best.empty()) from_pairs(out_.best.front());
    if (!out_.best.empty()) out_.least = std::min(out_.least, out_.best.front().score);
    return std::move(out_);
  }

 private:
  // Each index as large as there is room for, one after the other.
  Tile grown(Tile tile, bool last_first) const {
    for (size_t n = 0; n < space_.size(); ++n) {
      const size_t i = last_first ? space_.size() - 1 - n : n;
      for (auto size = space_[i].rbegin(); size != space_[i].rend(); ++size) {
        tile[i] = *size;
        if (!cost_.hopeless(tile)) break;
      }
    }
    return tile;
  }

  bool is_enough() const {
    return !out_.best.empty() &&
           out_.best.front().score <= std::max(cost_.enough, out_.least * (1 + cost_.gap));
  }

  void from(Tile tile) {
    double best = ask(tile);
    do descend(tile, best);
    while (!is_enough() && !cost_.rough && exchange(tile, best));
  }

  // From the best tile with two indices of any sizes, as long as that is a better one.
  void from_pairs(ScoredTile best) {
    for (bool better = true; better && !is_enough();) {
      const Tile start = best.tile;
      for (size_t i = 0; i < space_.size(); ++i)
        for (size_t j = 0; j < i; ++j) {
          Tile next = start;
          for (int64_t of_i : space_[i]) {
            next[i] = of_i;
            for (int64_t of_j : space_[j]) {
              next[j] = of_j;
              // Both changed, or it has been looked at.
              if (of_i == start[i] || of_j == start[j]) continue;
              if (cost_.hopeless(next)) break;
              const double cost = ask_below(next, best.score);
              if (cost < best.score) best = {next, cost};
            }
          }
        }
      better = best.tile != start;
      if (better && !is_enough()) {
        from(best.tile);
        best = out_.best.front();
      }
    }
  }

  // The best tile with one index a size larger and another one a size smaller, if it is better.
  bool exchange(Tile& tile, double& best) {
    const Tile start = tile;
    for (size_t up = 0; up < space_.size(); ++up)
      for (size_t down = 0; down < space_.size(); ++down) {
        if (up == down) continue;
        Tile next = start;
        if (!step(next, up, +1) || !step(next, down, -1)) continue;
        if (cost_.hopeless(next)) continue;
        const double cost = ask_below(next, best);
        if (cost >= best) continue;
        best = cost;
        tile = std::move(next);
      }
    return tile != start;
  }

  bool step(Tile& tile, size_t i, int64_t by) const {
    const std::vector<int64_t>& sizes = space_[i];
    const int64_t at = std::lower_bound(sizes.begin(), sizes.end(), tile[i]) - sizes.begin() + by;
    if (at < 0 || at >= static_cast<int64_t>(sizes.size())) return false;
    tile[i] = sizes[static_cast<size_t>(at)];
    return true;
  }
};

// Halves boxes of tiles, the half with the better bound first.
class Exhaustive : KeptTiles {
 public:
  Exhaustive(const TileSpace& space, const SearchCost& cost, size_t keep)
      : KeptTiles(space, cost, keep), is_last_(space.size()) {
    for (size_t i : cost.last) is_last_[i] = true;
  }

  Ranking run() && {
    Box box;
    for (const std::vector<int64_t>& sizes : space_) {
      box.low.push_back(sizes.front());
      box.high.push_back(sizes.back());
    }
    if (!cost_.hopeless(box.low)) {
      // A good tile at once, so that bounds have something to be compared with.
      Tile tile = box.low;
      double best = ask(tile);
      descend(tile, best);
      tighten(box, space_.size());
      out_.least = std::numeric_limits<double>::infinity();
      visit(box, 0);
      if (!out_.best.empty()) out_.least = std::min(out_.least, out_.best.front().score);
    }
    return std::move(out_);
  }

 private:
  struct Box {
    Tile low, high;  // the smallest tile and the largest one
    double bound = 0;
  };

  bool is_enough() const { return cost_.most > 0 && out_.looked_at >= cost_.most; }

  // The largest tile of a box is the first one of its tiles in order.
  bool may_be_kept(const Box& box) const {
    return out_.best.size() < keep_ ||
           is_better(box.bound * (1 + cost_.gap), box.high, out_.best.back());
  }

  // Takes away the sizes that are too large even with the smallest sizes of all other indices.
  // `grown` is the index that has just lost its smallest sizes; at the start, the number of
  // indices.
  void tighten(Box& box, size_t grown) {
    for (size_t i = 0; i < space_.size(); ++i) {
      const int64_t least = box.low[i];
      if (i == grown || least == box.high[i]) continue;
      box.low[i] = box.high[i];
      auto size = std::lower_bound(space_[i].begin(), space_[i].end(), box.high[i]);
      while (box.low[i] > least && cost_.hopeless(box.low)) box.low[i] = *--size;
      box.high[i] = box.low[i];
      box.low[i] = least;
    }
  }

  // The index whose sizes differ most in the box; one of `last` only if there is no other. The
  // number of indices if the box is one tile.
  size_t widest(const Box& box) const {
    size_t out = space_.size();
    std::pair<bool, double> most;
    for (size_t i = 0; i < space_.size(); ++i) {
      const std::pair<bool, double> one = {
          !is_last_[i], static_cast<double>(box.high[i]) / static_cast<double>(box.low[i])};
      if (one.second <= 1 || (out < space_.size() && one <= most)) continue;
      most = one;
      out = i;
    }
    return out;
  }

  void visit(const Box& box, size_t depth) {
    const size_t i = widest(box);
    if (i == space_.size()) {
      look_at(box.low);
      return;
    }
    const std::vector<int64_t>& sizes = space_[i];
    const auto first = std::lower_bound(sizes.begin(), sizes.end(), box.low[i]),
               last = std::lower_bound(first, sizes.end(), box.high[i]),
               middle = first + (last - first) / 2;
    if (depth == halves_.size()) halves_.emplace_back();
    std::array<Box, 2>& halves = halves_[depth];
    halves[0] = halves[1] = box;
    halves[0].high[i] = *middle;
    halves[1].low[i] = *std::next(middle);
    tighten(halves[1], i);
    for (Box& half : halves) half.bound = cost_.bound(half.low, half.high);
    if (halves[1].bound <= halves[0].bound) std::swap(halves[0], halves[1]);
    for (const Box& half : halves)
      if (may_be_kept(half) && !is_enough())
        visit(half, depth + 1);
      else
        out_.least = std::min(out_.least, half.bound);
  }

  std::vector<bool> is_last_;
  std::deque<std::array<Box, 2>> halves_;  // by depth; memory is taken once
};

}  // namespace

SearchResult ascend(const TileSpace& space, const TileScore& score) {
  SearchResult out;
  std::set<std::pair<double, Tile>> open;
  std::set<Tile> seen;
  const auto look_at = [&](Tile tile) {
    const double value = score(tile);
    if (value > 0) {
      open.insert({value, tile});
      if (out.best < 0 || value >= out.looked_at[static_cast<size_t>(out.best)].score)
        out.best = static_cast<int64_t>(out.looked_at.size());
    }
    seen.insert(tile);
    out.looked_at.push_back({std::move(tile), value});
  };
  Tile smallest;
  for (const std::vector<int64_t>& sizes : space) smallest.push_back(sizes.front());
  look_at(std::move(smallest));
  while (!open.empty()) {
    const auto top = std::prev(open.end());
    if (top->first < out.looked_at.back().score) break;
    const Tile from = top->second;
    open.erase(top);
    for (size_t i = 0; i < space.size(); ++i) {
      const int64_t size = doubled(space[i], from[i]);
      if (size == 0) continue;
      Tile next = from;
      next[i] = size;
      if (!seen.count(next)) look_at(std::move(next));
    }
  }
  return out;
}

SearchResult ascend(const std::vector<int64_t>& ranges, const TileScore& score) {
  TileSpace space;
  for (int64_t range : ranges) {
    std::vector<int64_t>& sizes = space.emplace_back();
    for (int64_t size = 1; size<range; size = size> range / 2 ? range : 2 * size)
      sizes.push_back(size);
    sizes.push_back(range);
  }
  return ascend(space, score);
}

Ranking exhaustive(const TileSpace& space, const SearchCost& cost, size_t keep) {
  return Exhaustive(space, cost, keep).run();
}

Ranking quick(const TileSpace& space, const SearchCost& cost, size_t keep) {
  return Quick(space, cost, keep).run();
}

}  // namespace stria::cost
