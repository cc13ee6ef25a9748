// SPDX-License-Identifier: Apache-2.0
#include "measure/groups_at_once.h"

#include <cstddef>

namespace stria::vulkan {

int64_t groups_at_once(const std::vector<double>& times) {
  constexpr double kFlat = 1.3;  // times the first one: groups may hinder each other a little
  constexpr double kStep = 0.6;  // of the first time
  for (size_t n = 1; n < times.size(); ++n) {
    if (!(times[0] > 0) || !(times[n - 1] <= kFlat * times[0])) return 0;
    if (times[n] - times[n - 1] >= kStep * times[0]) return static_cast<int64_t>(n);
  }
  return 0;
}

}  // namespace stria::vulkan
