// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/tile_search.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stria::cost {

SearchResult ascend(const std::vector<int64_t>& ranges, const TileScore& score) {
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
  look_at(Tile(ranges.size(), 1));
  while (!open.empty()) {
    const auto top = std::prev(open.end());
    if (top->first < out.looked_at.back().score) break;
    const Tile from = top->second;
    open.erase(top);
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (from[i] == ranges[i]) continue;
      Tile next = from;
      next[i] = std::min(2 * next[i], ranges[i]);
      if (!seen.count(next)) look_at(std::move(next));
    }
  }
  return out;
}

}  // namespace stria::cost
