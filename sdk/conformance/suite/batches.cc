// SPDX-License-Identifier: Apache-2.0
#include "suite/batches.h"

#include <algorithm>

namespace stria::conformance {

std::string end_of_group(char letter) { return std::string(1, letter) + ".ends"; }

std::deque<Batch> batches_of(const std::vector<Case>& all, const std::vector<size_t>& which) {
  std::deque<Batch> out;
  Batch open;
  const auto close = [&] {
    if (open.cases.empty()) return;
    const std::string end = end_of_group(all[open.cases.front()].group());
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].name == end) open.cases.push_back(i);
    out.push_back(std::move(open));
    open = Batch();
  };
  for (const size_t index : which) {
    const Case& c = all[index];
    if (c.name == end_of_group(c.group())) {
      // Comes with its group's cases, if there are any.
      if (!std::any_of(which.begin(), which.end(), [&](size_t other) {
            return other != index && all[other].place == Place::shared &&
                   all[other].group() == c.group();
          }))
        out.push_back({{index}, false});
      continue;
    }
    if (c.place != Place::shared) {
      out.push_back({{index}, false});
      continue;
    }
    if (!open.cases.empty() &&
        (all[open.cases.front()].group() != c.group() || open.cases.size() >= kBatchCases))
      close();
    open.cases.push_back(index);
  }
  close();
  return out;
}

}  // namespace stria::conformance
