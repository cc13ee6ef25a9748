// SPDX-License-Identifier: Apache-2.0
#include "dispatch_plan.h"

#include <algorithm>
#include <cmath>

namespace stria::vulkan {

std::vector<DispatchPiece> DispatchPlan::add(const std::array<int64_t, 3>& groups,
                                             double group_ns) {
  std::vector<DispatchPiece> out;
  if (groups[0] <= 0 || groups[1] <= 0 || groups[2] <= 0) return out;
  // In a row, a layer and all: each may be more than 32 bits hold.
  const double row = static_cast<double>(groups[0]), layer = row * static_cast<double>(groups[1]),
               all = layer * static_cast<double>(groups[2]);
  double most = all;  // groups of a piece
  if (limit_.ns > 0 && group_ns > 0) {
    most = std::max(std::floor(limit_.ns / group_ns), static_cast<double>(limit_.units));
    most = std::max(most, std::ceil(4 * all / static_cast<double>(kMostPieces)));
  }
  // Whole layers, or whole rows of one, or a part of one row.
  std::array<int64_t, 3> step = groups;
  if (most < row)
    step = {static_cast<int64_t>(most), 1, 1};
  else if (most < layer)
    step = {groups[0], static_cast<int64_t>(most / row), 1};
  else if (most < all)
    step[2] = static_cast<int64_t>(most / layer);
  for (int64_t z = 0; z < groups[2]; z += step[2])
    for (int64_t y = 0; y < groups[1]; y += step[1])
      for (int64_t x = 0; x < groups[0]; x += step[0]) {
        DispatchPiece piece;
        const std::array<int64_t, 3> first = {x, y, z};
        for (size_t d = 0; d < 3; ++d) {
          piece.first[d] = static_cast<uint32_t>(first[d]);
          piece.count[d] = static_cast<uint32_t>(std::min(step[d], groups[d] - first[d]));
        }
        const double ns = piece.groups() * group_ns;
        piece.begins_part = limit_.ns > 0 && ns > 0 && part_ns_ > 0 && part_ns_ + ns > limit_.ns;
        part_ns_ = piece.begins_part ? ns : part_ns_ + ns;
        out.push_back(piece);
      }
  return out;
}

}  // namespace stria::vulkan
