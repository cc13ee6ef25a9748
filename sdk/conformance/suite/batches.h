// SPDX-License-Identifier: Apache-2.0
// Which cases share a process.
#pragma once

#include <deque>
#include <vector>

#include "suite/case.h"

namespace stria::conformance {

struct Batch {
  std::vector<size_t> cases;  // indices of all cases
  bool confirms = false;      // one that failed among others runs again by itself
};

// Cases that want a process of their own get one. The others share one, up to kBatchCases of the
// same group in a row; the group's case "ends" comes last in each.
std::deque<Batch> batches_of(const std::vector<Case>& all, const std::vector<size_t>& which);
inline constexpr size_t kBatchCases = 64;

// The name of the case that ends a process of a group: "M.ends".
std::string end_of_group(char letter);

}  // namespace stria::conformance
