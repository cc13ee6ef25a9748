// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/part_choice.h"

#include <algorithm>

#include "stria/poly/affine.h"

namespace stria::cost {
namespace {

class Partition {
 public:
  Partition(const std::vector<int64_t>& ranges, int64_t wanted, int64_t multiple_of, bool only_even)
      : ranges_(ranges), wanted_(wanted) {
    for (int64_t range : ranges)
      sizes_.push_back(part_sizes(range, 2 * wanted, multiple_of, only_even));
    present_.tiles.resize(ranges.size());
  }

  PartChoice run() && {
    extend(0);
    return std::move(best_);
  }

 private:
  void extend(size_t at) {
    if (at == ranges_.size()) {
      if (best_.tiles.empty() || is_better(present_, best_)) best_ = present_;
      return;
    }
    const PartChoice before = present_;
    // Fewer parts last: of equals the first wins.
    for (size_t i = sizes_[at].size(); i-- > 0;) {
      const int64_t tile = sizes_[at][i], count = ceil_div(ranges_[at], tile);
      // One part too many for every one wanted is worse than no cut at all.
      if (before.parts * count >= 2 * wanted_ && count > 1) continue;
      present_.tiles[at] = tile;
      present_.parts = before.parts * count;
      present_.points = before.points * static_cast<double>(tile) * static_cast<double>(count);
      present_.cuts = before.cuts + (count > 1 ? 1 : 0);
      extend(at + 1);
    }
    present_ = before;
  }

  bool is_better(const PartChoice& a, const PartChoice& b) const {
    const int64_t off_a = parts_off(a.parts, wanted_), off_b = parts_off(b.parts, wanted_);
    if (off_a != off_b) return off_a < off_b;
    if (a.points != b.points) return a.points < b.points;
    return a.cuts < b.cuts;
  }

  const std::vector<int64_t>& ranges_;
  const int64_t wanted_;
  std::vector<std::vector<int64_t>> sizes_;  // tiles that a range may have
  PartChoice present_, best_;
};

}  // namespace

std::vector<int64_t> part_sizes(int64_t range, int64_t most, int64_t multiple_of, bool only_even) {
  std::vector<int64_t> sizes;
  for (int64_t parts = 1; parts <= std::min(range, most); ++parts) {
    const int64_t even = ceil_div(range, parts);
    const int64_t size = std::min(range, ceil_div(even, multiple_of) * multiple_of);
    if (only_even && range % size != 0) continue;
    if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

int64_t parts_off(int64_t parts, int64_t wanted) {
  return parts <= wanted ? wanted - parts : 2 * (parts - wanted);
}

PartChoice choose_parts(const std::vector<int64_t>& ranges, int64_t wanted, int64_t multiple_of,
                        bool only_even) {
  return Partition(ranges, wanted, multiple_of, only_even).run();
}

}  // namespace stria::cost
