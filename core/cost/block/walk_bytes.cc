// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/walk_bytes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::cost {

double walk_bytes(const std::vector<int64_t>& ranges, const std::vector<WalkedView>& views,
                  int64_t line_bytes) {
  double points = 1;
  for (const int64_t range : ranges) points *= static_cast<double>(range);
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i] < 2) continue;
    double bytes = 0;  // of one step of index i
    for (const WalkedView& view : views) {
      const double step = std::abs(static_cast<double>(view.strides[i])) * view.element_bytes;
      const double most = std::max(static_cast<double>(line_bytes), view.element_bytes);
      bytes +=
          step == 0 ? view.element_bytes / static_cast<double>(ranges[i]) : std::min(step, most);
    }
    best = std::min(best, points * bytes);
  }
  if (best < std::numeric_limits<double>::infinity()) return best;
  best = 0;  // one point
  for (const WalkedView& view : views) best += view.element_bytes;
  return best;
}

}  // namespace stria::cost
