// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/part_sizes.h"

#include <algorithm>

#include "stria/poly/affine.h"

namespace stria::passes {

std::vector<int64_t> part_sizes(int64_t range, int64_t most, int64_t multiple_of) {
  std::vector<int64_t> sizes;
  for (int64_t parts = 1; parts <= std::min(range, most); ++parts) {
    const int64_t even = ceil_div(range, parts);
    const int64_t size = std::min(range, ceil_div(even, multiple_of) * multiple_of);
    if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

int64_t parts_off(int64_t parts, int64_t wanted) {
  return parts <= wanted ? wanted - parts : 2 * (parts - wanted);
}

}  // namespace stria::passes
