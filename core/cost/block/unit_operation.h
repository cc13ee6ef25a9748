// SPDX-License-Identifier: Apache-2.0
// How long one operation of a unit takes, and how much energy.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/cost/block/block_work.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Cycles of a systolic array of R rows and C columns for a product, fill and drain included:
//   output stationary  ceil(M/R) ceil(N/C) (K + R + C - 2)
//   weight stationary  ceil(K/R) ceil(N/C) (M + P (2R + C - 2))
//   input stationary   ceil(K/R) ceil(M/C) (N + P (2R + C - 2))
// Each product of the two first factors is a fold, and K, M or N the steps of one. Sums of several
// folds stay in accumulators, if the array has A of them for each column: then the steps come in
// P = ceil(M/A) (or ceil(N/A)) parts, each of which goes through all folds. Otherwise P is 1.
// If folds overlap, all but the last one take max(steps, R): the next one is filled meanwhile.
double systolic_cycles(const SystolicArray& array, const Product& product);

// What moves between a unit and the memory beside it, for one operation: bytes of a refinement.
struct OperandBytes {
  double read = 0;         // operands
  double sums_inside = 0;  // sums that left the unit, and come back to be added to
  double sums_before = 0;  // what is there before, if the operation adds to a sum that goes on
  double written = 0;
};
// Each element moves once, but for products on a systolic array. There what stays in the array
// moves once for each part, what streams through it once for each fold that it meets, and results
// leave after each fold of their sums, or once if the array has accumulators.
OperandBytes operand_bytes(const ExecutionUnit& unit, const BlockWork& work,
                           const stripe::Refinement& ref, const Footprint& footprint);
// Which port reads of the refinement take, other than those of sums: it is the first or the second
// operand of a product, or the first or a later one of the block's inputs.
PortUse read_use(const BlockWork& work, const stripe::Block& block, const stripe::Refinement& ref);

// Cycles of the unit's clock, without its overhead_cycles. unsupported: the unit has neither a rate
// of a type nor ops_per_cycle.
Result<double> operation_cycles(const ExecutionUnit& unit, const BlockWork& work);

// Picojoules of one operation, as "mac.i8", on the unit. A mac without an energy of its own is a
// multiplication and an addition of i32 (of fp32 for floats). Negative: the model does not say.
double operation_pj(const ExecutionUnit& unit, const std::string& operation);

}  // namespace stria::cost
