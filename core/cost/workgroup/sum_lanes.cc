// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/sum_lanes.h"

#include <algorithm>
#include <tuple>

#include "stria/cost/workgroup/group_plan.h"
#include "stria/poly/affine.h"

namespace stria::cost {
namespace {

class SumLanes {
 public:
  SumLanes(const std::vector<int64_t>& ranges, const std::vector<SumRead>& reads,
           int64_t group_lanes, int64_t first)
      : ranges_(ranges), reads_(reads), group_lanes_(group_lanes), first_(first) {}

  std::vector<int64_t> run() {
    std::vector<int64_t> lanes(ranges_.size(), 1);
    search(0, group_lanes_, lanes);
    return best_;
  }

 private:
  void search(size_t index, int64_t left, std::vector<int64_t>& lanes) {
    if (index == ranges_.size()) return compare(lanes);
    // Lanes without anything to do pause.
    const int64_t most = std::min(left, power_of_two_above(ranges_[index]));
    const int64_t least = index == 0 ? std::min(most, power_of_two_above(first_)) : 1;
    // The largest number first: among equal plans the first one stays.
    for (int64_t count = most; count >= least; count /= 2) {
      lanes[index] = count;
      search(index + 1, left / count, lanes);
    }
    lanes[index] = 1;
  }

  void compare(const std::vector<int64_t>& lanes) {
    int64_t sums = 1, loads = 0;
    for (size_t i = 0; i < ranges_.size(); ++i)
      sums = saturating_product(sums, ceil_div(ranges_[i], lanes[i]));
    for (const SumRead& read : reads_) {
      int64_t own = read.elements;
      for (size_t i = 0; i < ranges_.size(); ++i)
        if (read.moved[i]) own = saturating_product(own, ceil_div(ranges_[i], lanes[i]));
      loads += std::min<int64_t>(own, 1 << 30);
    }
    const std::tuple cost{sums, loads};
    if (!best_.empty() && cost >= least_) return;
    best_ = lanes;
    least_ = cost;
  }

  const std::vector<int64_t>& ranges_;
  const std::vector<SumRead>& reads_;
  const int64_t group_lanes_, first_;
  std::vector<int64_t> best_;
  std::tuple<int64_t, int64_t> least_;
};

}  // namespace

std::vector<int64_t> plan_sum_lanes(const std::vector<int64_t>& ranges,
                                    const std::vector<SumRead>& reads, int64_t group_lanes,
                                    int64_t first) {
  return SumLanes(ranges, reads, group_lanes, first).run();
}

}  // namespace stria::cost
