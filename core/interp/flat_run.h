// SPDX-License-Identifier: Apache-2.0
// The state of one run of a flat plan: the columns, and what loads brought last.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stria/interp/engine.h"
#include "stria/interp/flat_plan.h"

namespace stria::interp {

struct FlatRun {
  FlatRun(const FlatPlan& flat_plan, bool with_bounds);

  // For these views, do rows give the same results as single points? If stores reach what loads or
  // other stores touch, it must be at the same point. Forgets what was kept from the last
  // execution.
  bool applies(const BlockPlan& block, const std::vector<View>& views,
               const std::vector<int64_t>& bases, const std::vector<int64_t>& forms);

  void* own(int column) { return memory.data() + static_cast<size_t>(column) * kRow; }
  Bounded* own_bounded(int column) {
    return bounded_memory.data() + static_cast<size_t>(column) * kRow;
  }

  const FlatPlan& plan;
  std::vector<Column> columns;
  std::vector<const Bounded*> bounded;  // stride of the column
  struct Kept {
    int64_t offset = std::numeric_limits<int64_t>::min();
    int64_t count = 0;
  };
  // Per load. What is kept stays right: if loads meet stores, every point has an element of its
  // own, and no row comes twice.
  std::vector<Kept> kept;

 private:
  struct Range {
    const char* first;
    const char* last;
  };
  std::vector<Range> ranges_;
  std::vector<uint64_t> memory;  // [column][kRow], 8 bytes hold every native type
  std::vector<Bounded> bounded_memory;
};

}  // namespace stria::interp
