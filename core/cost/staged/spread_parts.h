// SPDX-License-Identifier: Apache-2.0
// Into which parts a tile is cut that all instances of a unit share. As many parts as there are
// instances are best as long as the unit works longer than its operands move. Else the parts are
// best whose operands are few: of a product, parts that are nearly square.
//
//   8 x 128 results over 168 units, a sum of 64 each: parts of 8 x 1 read 9 * 64 elements, parts
//   of 2 x 4, of which there are as many, 6 * 64
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stria/cost/block/operation_pace.h"
#include "stria/cost/block/part_choice.h"
#include "stria/cost/block/tile.h"
#include "stria/cost/staged/kernel_shape.h"
#include "stria/cost/staged/staged_rates.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct SpreadUnit {
  const ExecutionUnit* unit = nullptr;  // borrowed, as the other two are
  const OperationPace* pace = nullptr;  // of it at the block
  const ScratchpadPorts* ports = nullptr;
  double unit_cycle = 1;  // in cycles of the model's clock
  int64_t instances = 1;
  int64_t banks = 1;  // instances of the scratchpad that the operands are spread over
};

// The views of a kernel, in the order of `shape`.
struct SpreadViews {
  std::vector<OperandUse> uses;
  std::vector<PortUse> read_uses;
};
SpreadViews spread_views(const stripe::Block& block, const ExecutionUnit& unit);

// What does not depend on the tile as a whole, for many tiles of one kernel on one unit.
struct KnownParts {
  std::map<std::vector<int64_t>, PartChoice> by_number;  // by the ranges that may be cut
  std::map<int64_t, std::vector<int64_t>> sizes;         // of parts, by range
};

// The cut of `tile` along these of its indices, in even parts; `tiles` of the answer has a size for
// each of them. choose_parts(), unless its operands move for longer than the unit works, and a cut
// into at most one part for each instance takes less time. Bank conflicts are not looked at.
PartChoice spread_parts(KernelShape& shape, const SpreadViews& views, const Tile& tile,
                        const std::vector<size_t>& along, const SpreadUnit& on, KnownParts& known);

}  // namespace stria::cost
