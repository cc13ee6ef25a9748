// SPDX-License-Identifier: Apache-2.0
// operation_cycles() and operand_bytes() for many tiles of one block: which operations it does and
// which elements it touches is the same for all of them, and is looked up once.
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "stria/cost/block/block_work.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::cost {

class OperationPace {
 public:
  // `work`: of any tile. The object borrows `unit`. unsupported: as operation_cycles().
  static Result<OperationPace> of(const ExecutionUnit& unit, const BlockWork& work);
  // Of a tile of the same block.
  double cycles(const BlockWork& work) const;

 private:
  const ExecutionUnit* unit_ = nullptr;
  double operations_of_mac_ = 1, rate_ = 1;
};

// What one view's elements are to a block's operations on a unit.
class OperandUse {
 public:
  // `work`: of any tile. The object borrows `unit`.
  OperandUse(const ExecutionUnit& unit, const BlockWork& work, const stripe::Refinement& ref);
  // Of a tile of the same block.
  OperandBytes bytes(const BlockWork& work, const Footprint& footprint) const;

 private:
  // By product of the block.
  struct Side {
    bool first = false, second = false, result = false;
  };
  const ExecutionUnit* unit_ = nullptr;
  double element_ = 1, sum_ = 1;
  bool is_known_ = false, reads_ = false, goes_on_ = false, writes_ = false;
  std::vector<Side> sides_;  // of a systolic array's products; empty: it has no part in them
};

}  // namespace stria::cost
