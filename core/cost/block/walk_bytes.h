// SPDX-License-Identifier: Apache-2.0
// What a walk through memory costs, before anything is known of tiles: for choosing layouts.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::cost {

// A view of which each point of a box of indices touches one element.
struct WalkedView {
  double element_bytes = 0;
  std::vector<int64_t> strides;  // elements between neighbours of each index, either sign
};

// Bytes that move while all points of the box run, in the best order: the index is innermost that
// makes them fewest. A step of that index that moves a view by s bytes brings s bytes of it, at
// least an element and at most a line. If the index does not move a view, its element is kept for
// the whole row. `line_bytes` is the smallest piece that moves, 1 or more; ranges are 1 or more.
// This is an upper bound if caches keep lines between rows: good for comparing layouts, not for
// times.
double walk_bytes(const std::vector<int64_t>& ranges, const std::vector<WalkedView>& views,
                  int64_t line_bytes);

}  // namespace stria::cost
