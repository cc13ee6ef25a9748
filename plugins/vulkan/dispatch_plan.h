// SPDX-License-Identifier: Apache-2.0
// Cuts kernels into dispatches, and dispatches into command buffers of their own, so that none is
// predicted to take longer than the device's watchdog lets work take.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace stria::vulkan {

// A limit on what one submission may take.
struct DispatchLimit {
  double ns = 0;      // 0: no limit
  int64_t units = 1;  // fewer groups take as long as so many: no dispatch is cut further
};

// A part of a kernel's groups.
struct DispatchPiece {
  std::array<uint32_t, 3> first = {0, 0, 0};
  std::array<uint32_t, 3> count = {1, 1, 1};
  bool begins_part = false;  // a command buffer of its own begins with it
  double groups() const { return double{1} * count[0] * count[1] * count[2]; }
};

// Plans kernels that run one after the other.
class DispatchPlan {
 public:
  explicit DispatchPlan(DispatchLimit limit) : limit_(limit) {}

  // The dispatches of the next kernel, of which each group adds `group_ns`; none if one of `groups`
  // is 0. There are never more than kMostPieces: then they take longer than the limit.
  std::vector<DispatchPiece> add(const std::array<int64_t, 3>& groups, double group_ns);

  static constexpr int64_t kMostPieces = 1024;

 private:
  const DispatchLimit limit_;
  double part_ns_ = 0;  // of the command buffer that is being filled
};

}  // namespace stria::vulkan
