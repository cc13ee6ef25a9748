// SPDX-License-Identifier: Apache-2.0
// The repeats of a timeline as a tree: which of them lie in which.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/timeline.h"

namespace stria::sim {

struct RepeatTree {
  const Repeat* repeat = nullptr;
  std::vector<RepeatTree> inner;  // one after another
};

// The repeats that lie in no other one, one after another. `timeline` must outlive them.
inline std::vector<RepeatTree> repeat_tree(const Timeline& timeline) {
  std::vector<RepeatTree> out;
  for (const Repeat& repeat : timeline.repeats) {
    RepeatTree tree{&repeat, {}};
    // Inner ones come first.
    const auto inside = std::find_if(out.begin(), out.end(), [&](const RepeatTree& other) {
      return other.repeat->first >= repeat.first;
    });
    tree.inner.assign(std::make_move_iterator(inside), std::make_move_iterator(out.end()));
    out.erase(inside, out.end());
    out.push_back(std::move(tree));
  }
  return out;
}

}  // namespace stria::sim
